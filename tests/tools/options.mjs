// Nothing that is asked for is ignored: every option of every command, as the program's own help lists them, has an
// effect (some output differs), or is refused with exit code 2 where it has none.
//   options.mjs <infold>
// An option that is not in the table below fails the test.
import {execFile} from "node:child_process";
import {existsSync, mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {availableParallelism, tmpdir} from "node:os";
import {join, resolve as absolute} from "node:path";

const [program] = process.argv.slice(2);
if (!program) {
  console.error("usage: options.mjs <infold>");
  process.exit(2);
}
const infold = absolute(program);
const scratch = mkdtempSync(join(tmpdir(), "infold-options-"));
process.on("exit", () => rmSync(scratch, {recursive: true, force: true}));
const file = (name, text) => {
  writeFileSync(join(scratch, name), text);
  return join(scratch, name);
};

/** What repeats an option's value says nothing of its effect. */
const echoes = new Set(["dtype", "op", "shape", "sms_taken", "sms_reserved", "optimizer", "recompute", "fusion", "sync", "overlap", "seed"]);
function withoutEchoes(value) {
  if (Array.isArray(value)) return value.map(withoutEchoes);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !echoes.has(key)).map(([key, v]) => [key, withoutEchoes(v)]));
}

const ran = new Map();
/** Runs a command line once; {code, out, err}. */
function run(words) {
  if (!ran.has(words)) {
    ran.set(words, new Promise((resolve) => {
      execFile(infold, words.split(" ").filter((w) => w !== ""), {encoding: "utf8", cwd: scratch, maxBuffer: 1 << 26, env: {...process.env, XDG_CACHE_HOME: scratch}}, (error, out, err) => {
        let seen = out;
        try {
          seen = JSON.stringify(withoutEchoes(JSON.parse(out)));
        } catch { /* a table */ }
        resolve({code: error ? error.code ?? error.signal : 0, out: seen, err: err.replace(/^# .*\n/gm, "")});
      });
    }));
  }
  return ran.get(words);
}

const blocks = file("blocks.yaml", "kind: model\nbase: llama2-7b\nsummary: s\ninput: {tokens: 64}\nparameters: {width: 128, inner: 256, depth: 4, heads: 8, kv_heads: 4, words: 128}\n");
const routed = file("routed.yaml", "kind: model\nbase: mixtral-8x7b\nsummary: s\ninput: {tokens: 64}\nparameters: {width: 128, inner: 256, depth: 2, heads: 8, kv_heads: 4, words: 128, experts: 4, top: 2}\n");
const config = file("config.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 128, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"vocab_size\": 128, \"max_position_embeddings\": 64}");
const topology = file("topology.xml", `<system version="1"><cpu>${[0, 1].map((g) => `<pci busid="0:${g}" class="0x030200" device="0x2330"><gpu dev="${g}" sm="90" rank="${g}"><nvlink target="0:9" count="4" tclass="0x068000"/></gpu></pci>`).join("")}</cpu></system>`);
const alone = file("alone.json", "{\"collective\": \"all_reduce\", \"bytes\": 64, \"ranks\": 1, \"channels\": 1, \"lists\": [{\"rank\": 0, \"channel\": 0, \"steps\": [{\"bytes\": 64, \"input\": 0, \"output\": 0, \"finish\": true}]}]}");
const launch = (n, at, stream, more = {}) => [
  {ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", tid: 1, ts: at, dur: 1, args: {correlation: n}},
  {ph: "X", cat: "kernel", name: stream === 20 ? "ncclDevKernel_AllReduce" : "kernel", ts: at + 5, dur: 50, args: {stream, device: 0, correlation: n, grid: [432, 1, 1], ...more}}];
const reduced = {"Collective name": "allreduce", "In msg nelems": 100000, "Out msg nelems": 100000, "Group size": 2, dtype: "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]"};
const profile = file("profile.json", JSON.stringify({distributedInfo: {rank: 0, world_size: 2}, traceEvents: [1, 2].flatMap((s) => [
  {ph: "X", cat: "user_annotation", name: `ProfilerStep#${s}`, tid: 1, ts: s * 1000, dur: 500 * s, args: {}},
  ...launch(s * 10, s * 1000 + 10, 7), ...launch(s * 10 + 1, s * 1000 + 20, 20, reduced), ...launch(s * 10 + 2, s * 1000 + 90, 7)])}));
const loaded = file("workload.yaml", `kind: workload
communicators: [{name: world, groups: [[0, 1, 2, 3]]}, {name: also, groups: [[0, 1, 2, 3]]}]
buffers: [{bytes: 1000000}, {bytes: 3000000}]
operations:
  - {do: measured, ps: 20000000, workgroups: 864}
  - {do: collective, collective: all_reduce, communicator: 0, buffer: 0, after: [0]}
  - {do: measured, ps: 200000000, workgroups: 864, bytes: 100000000}
  - {do: measured, ps: 10000000, after: [1, 4]}
  - {do: collective, collective: all_reduce, communicator: 1, buffer: 1, after: [0]}
scripts: [{streams: [{name: compute, ops: [0, 2, 3]}, {name: world, kind: communication, communicator: 0, ops: [1]}, {name: also, kind: communication, communicator: 1, ops: [4]}]}]
script_of: [0, 0, 0, 0]
`);
const tree = join(scratch, "tree.json");
const pair = join(scratch, "pair.json");
const tuning = join(scratch, "tuning.yaml");
// A machine of two GPUs and logs of it: as it should be, and slower.
const duo = file("duo.yaml", "kind: system\nbase: r9nano-pcie-2\nname: duo\nsummary: s\n");
const log = (name, factor) => file(name, `# Collective test starting: all_reduce_perf\n# Rank 0 on a\n# Rank 1 on a\n${[65536, 262144, 1048576].map((b) => `${b} ${b / 4} float sum -1 ${b * factor} 1 1 0 ${b * factor / 2} 1 1 0`).join("\n")}\n`);
const sound = log("sound.txt", 1e-5);
const loss = log("loss.txt", 1);
const sweep = file("sweep.yaml", "kind: sweep\nsummary: s\ncommand: bench all_reduce -b 4K -g 2\naxes: [{--algo: [ring, tree]}]\n");
const study = file("study.yaml", "kind: study\nname: s\nsummary: s\nmethods: [ring, nvls]\ncases: [{system: hgx-h100, gpus: 2, model: lenet, batch: 8, heavy: true}]\n");
const pod = file("pod.yaml", "kind: study\nname: s\nsummary: s\nmethods: [ring]\ncases: [{system: hgx-h100, model: lenet, batch: 8, heavy: true}]\n");
const hopes = file("hopes.yaml", "kind: study\nname: s\nsummary: s\nmethods: [ring, inc-push]\ncases: [{system: hgx-h100, gpus: 2, model: lenet, batch: 8, heavy: true}]\n");
const figures = file("figures.yaml", `kind: validation
rows:
  - {id: a, published: 1, unit: us, accept: 0.01, because: b, quantity: q, source: s, run: bench all_reduce -b 4K -g 2, read: /results/0/time_us}
  - {id: b, published: 1, unit: us, accept: 0.01, because: b, quantity: q, source: s, run: bench all_reduce -b 8K -g 2, read: /results/0/time_us}
constants:
  - {set: gpu.launch, about: a, chosen_on: [a]}
`);

const R = `replay ${loaded} --json --no-timing`;
const quiet = `replay ${profile} --gpus 1 --json --no-timing`;
const B = "bench all_reduce -b 16K -g 4 --json --no-timing";
const inNetwork = "--algo inc-push --system hgx-h100";
const G = "bench gemm -m 512 -n 512 -k 256 --json --no-timing";
const small = "--beside all_reduce --beside-size 256K";
const T = "--model lenet --batch 8 --gpus 2 --json --no-timing";

/** "with": added to a base, something else comes out. "refused": it is not, and that is said. "useless": whole command lines
 * that are refused because the option has no effect there. "same": neither, and why
 * that is right. "writes": the file is there. Values are what is added to the base. */
const kernelOptions = (kernel, own) => ({
  "-d,--dtype": kernel === "copy" ? {base: own, refused: "-d fp32"} : {base: own, with: "-d tf32"},
  "--gpu": {base: own, with: "--gpu v100", refusedToo: "--gpu v100 --system hgx-h100"},
  "--system": {base: own, with: "--system hgx-h100"},
  "--beside": {base: own, with: small},
  "--beside-size": {base: `${own} ${small}`, with: "", against: `${own} --beside all_reduce --beside-size 64K`, refusedIn: own, refused: "--beside-size 1M"},
  "--algo": {base: `${own} ${small}`, with: "--algo tree", refusedIn: own, refused: "--algo tree"},
  "--proto": {base: `${own} ${small}`, with: "--proto simple", refusedIn: own, refused: "--proto ll"},
  "--beside-engine": {base: `${own} ${small}`, with: "--beside-engine dma", refusedIn: own, refused: "--beside-engine dma"},
  "--burst": {base: `${own} --beside all_reduce --beside-size 2M`, with: "--burst 1", refusedIn: own, refused: "--burst 1"},
  "--coll-channels": {base: `${own} ${small}`, useless: [`${own} ${small} --system hgx-h100 --algo nvls --coll-channels 4`], with: "--coll-channels 4", refusedIn: own, refused: "--coll-channels 4", refusedToo: `--coll-channels 4 --beside-engine dma ${small}`},
  "--priority": {base: "bench gemm -m 4096 -n 4096 -k 256 --beside all_reduce --size 256K --json --no-timing", with: "--priority -5", useless: [`${own} ${small} ${inNetwork} --what-if inc --priority -5`], refusedIn: own, refused: "--priority -5"},
  "--without": {base: `${own} ${small}`, with: "--without hbm,l2,sm", refusedIn: own, refused: "--without sm", refusedToo: `${small} --without link`},
  "--what-if": {base: `${own} ${small} ${inNetwork}`, with: "--what-if inc", refusedIn: own, refused: "--what-if inc"},
  "--sms-taken": {base: own, with: "--sms-taken 100", refusedToo: `--sms-taken 100 ${small}`},
  "--sms-reserved": {base: own, with: "--sms-reserved 107"},
  "--nodes": {base: `${own} ${small}`, with: "--nodes 2", refusedIn: own, refused: "--nodes 2"},
  "--set": {base: own, with: "--set gpu.launch_gap=9us", refusedToo: "--set fabric.link.latency=1us"},
});
const output = (own) => ({
  "--json": {base: own.replace(" --json", ""), with: "--json"},
  "--report": {base: own, writes: "r.html"},
  "--no-timing": {base: own.replace(" --no-timing", ""), with: "--no-timing"},
});
const stepOptions = (command, several) => {
  const base = `${command} ${T}${several ? " --algo ring" : ""}`;
  const shared = `${command} --model ${blocks} --batch 1 --gpus 4 --json --no-timing${several ? " --algo ring" : ""}`;
  const experts = shared.replace(blocks, routed);
  const alone = several ? undefined : `${command} ${T.replace("--gpus 2", "--gpus 1")}`;
  const together = (row) => (alone ? {...row, refusedIn: row.refusedIn ?? alone, refused: row.refused ?? row.with} : row);
  return {
    "--system": {base, with: "--system hgx-h100"},
    "--model": {base: `${command} --batch 8 --gpus 2 --json --no-timing --model lenet`, against: `${command} --batch 8 --gpus 2 --json --no-timing --model mlp`, with: ""},
    "--batch": {base, against: base.replace("--batch 8", "--batch 16"), with: ""},
    "--accumulate": {base, with: "--accumulate 2"},
    "--seq": {base: `${command} --model gpt2-small --batch 1 --gpus 2 --json --no-timing --seq 32${several ? " --algo ring" : ""}`, against: `${command} --model gpt2-small --batch 1 --gpus 2 --json --no-timing --seq 16${several ? " --algo ring" : ""}`, with: "", refusedIn: base, refused: "--seq 16"},
    "-g,--gpus,--ngpus": {base, against: base.replace("--gpus 2", "--gpus 4"), with: ""},
    "--nodes": {base: `${command} --model lenet --batch 8 --json --no-timing${several ? " --algo ring" : ""}`, with: "--nodes 2", refusedToo: "--nodes 0"},
    "-d,--dtype": {base, with: "-d fp32"},
    "--fusion": {base, with: "--fusion fused"},
    "--optimizer": {base, with: "--optimizer adam"},
    "--recompute": {base: `${command} --model gpt2-small --batch 1 --gpus 2 --json --no-timing --seq 16${several ? " --algo ring" : ""}`, with: "--recompute full", refusedIn: base, refused: "--recompute full"},
    "--ignore-memory": {base: `${command} --model lenet --batch 4096 --gpus 2 --json --no-timing --set gpu.hbm.capacity=64MiB${several ? " --algo ring" : ""}`, with: "--ignore-memory"},
    "--sync": together({base, with: "--sync per-tensor"}),
    "--bucket": together({base, with: "--bucket 16KiB", useless: [`${shared} --tp 4 --bucket 16KiB`], refusedToo: "--sync horovod --bucket 16KiB", refusedThree: "--bucket 50"}),
    "--first-bucket": together({base, with: "--first-bucket 16KiB", useless: [`${shared} --tp 4 --first-bucket 16KiB`, `${shared} --pp 2 --first-bucket 16KiB`], refusedToo: "--sync per-tensor --first-bucket 16KiB"}),
    "--gradient-as-view": together({base, with: "--gradient-as-view", useless: [`${shared} --tp 4 --gradient-as-view`, `${shared} --pp 2 --gradient-as-view`], refusedToo: "--sync tensorflow --gradient-as-view"}),
    "--fusion-size": together({base: `${base} --sync horovod`, with: "--fusion-size 16KiB", refusedIn: base}),
    "--cycle": together({base: `${base} --sync horovod`, with: "--cycle 20us", refusedIn: base}),
    "--packs": together({base: `${base} --sync tensorflow`, with: "--packs 3", refusedIn: base}),
    "--shard": together({base: `${shared} --sync hsdp --shard 4`, against: `${shared} --sync hsdp --shard 2`, with: "", refusedIn: base, refused: "--shard 2"}),
    "--reshard": together({base: `${shared} --sync fsdp`, with: "--reshard off", refusedIn: base, refused: "--reshard off", refusedToo: "--sync fsdp --reshard perhaps"}),
    "--reduce-dtype": together({base: `${shared} --sync fsdp -d bf16`, with: "--reduce-dtype products", refusedIn: base, refused: "--reduce-dtype products"}),
    "--dp": {base: `${shared} --tp 2`, refused: "--dp 4", same: "--dp 2", why: "it is what --tp leaves of the GPUs"},
    "--tp": together({base: shared, with: "--tp 2", refusedIn: base, refused: "--tp 2", refusedToo: "--tp 3"}),
    "--sp": together({base: `${shared} --tp 2`, with: "--sp off", refusedIn: shared, refused: "--sp off"}),
    "--pp": together({base: shared, with: "--pp 2", refusedToo: "--pp 2 --sync fsdp"}),
    "--cp": together({base: shared, with: "--cp 2", refusedToo: "--cp 3"}),
    "--cp-comm": together({base: `${shared} --cp 2`, with: "--cp-comm ring", refusedIn: shared, refused: "--cp-comm ring"}),
    "--ep": together({base: experts, with: "--ep 4", refusedToo: "--ep 3", useless: [`${shared} --ep 2`, `${shared} --pp 2 --ep 2`]}),
    "--ep-comm": together({base: `${experts} --ep 4`, with: "--ep-comm multicast", refusedIn: experts, refused: "--ep-comm multicast"}),
    "--expert-skew": together({base: `${experts} --ep 4`, with: "--expert-skew 2", refusedIn: experts, refused: "--expert-skew 2"}),
    "--schedule": together({base: `${shared} --pp 2 --micro-batches 4`, with: "--schedule gpipe", refusedIn: shared, refused: "--schedule gpipe"}),
    "--virtual": together({base: `${shared} --pp 1`, against: `${shared} --pp 2 --micro-batches 4 --schedule interleaved --virtual 2`, with: "", refusedIn: shared, refused: "--virtual 2"}),
    "--micro-batches": together({base: `${shared} --pp 2`, with: "--micro-batches 4", refusedIn: shared, refused: "--micro-batches 4"}),
    "--algo": together({base, against: `${command} ${T} --algo tree`, with: "", useless: ["--sync fsdp", "--sync zero1", "--pp 4"].map((how) => `${shared.replace(" --algo ring", "")} ${how} --algo tree`), ...(alone ? {refused: "--algo tree"} : {})}),
    "--program": command === "compare"
      ? {base, with: `--program ${pair}`, refusedToo: `--program ${tree}`, refusedThree: `--program ${pair} --sync horovod`}
      : together({base: `${command} ${T}`, with: `--program ${pair}`, refusedToo: `--program ${pair} --algo tree`, refusedThree: `--program ${tree}`}),
    "--engine": together({base, with: "--engine dma", refusedToo: "--algo ring@dma --engine ace"}),
    "--gather-engine": together({base: `${shared} --sync fsdp`, with: "--gather-engine dma", refusedIn: base, refused: "--gather-engine dma"}),
    "--proto": together({base, with: "--proto simple", refusedToo: "--proto ll --engine dma"}),
    "--env": together({base: base.replace(/--algo \S+/, ""), with: "--env NCCL_MAX_NCHANNELS=2", refusedToo: "--env NCCL_ALGO=rign"}),
    "--channels": together({base, with: "--channels 2", refusedToo: "--engine dma --channels 2"}),
    "--what-if": {base: `${command} ${T} ${inNetwork}`, with: "--what-if inc"},
    "--priority": {base: `${command} --model vgg16 --batch 8 --gpus 2 --json --no-timing --sync per-tensor${several ? " --algo ring" : ""}`, with: "--priority -50", useless: [`${command} ${T} ${inNetwork} --what-if inc --priority -5`], ...(alone ? {refusedIn: base, refused: "--priority -5 --sequential"} : {})},
    "--sms-reserved": together({base, with: "--sms-reserved 60"}),
    "--without": together({base, with: "--without sm,l2,hbm", refusedToo: "--without link"}),
    "--skew": together({base, with: "--skew 50us"}),
    "--seed": {base: `${base} --skew 50us`, with: "--seed 7", refusedIn: base, refused: "--seed 7"},
    "--burst": together({base, with: "--burst 4KiB"}),
    "--fidelity": together({base, with: "--fidelity composed --no-cache", refusedToo: "--fidelity flow", refusedThree: "--fidelity packet --burst 1"}),
    "--budget": together({base: `${command} --model mlp --batch 8 --gpus 2 --json --no-timing${several ? " --algo ring" : ""} --fidelity auto`, with: "--budget 1ms", refusedIn: base, refused: "--budget 10s"}),
    "--no-cache": together({base: `${base} --fidelity composed`, same: "--no-cache", why: "profiles that were kept change no result", refusedIn: base, refused: "--no-cache"}),
    "--fold": together({base: `${command} --model lenet --batch 8 --gpus 8 --json --no-timing${several ? " --algo ring" : ""}`, with: "--fold on", refusedIn: base}),
    "--set": {base, with: "--set fabric.link.latency=9us", refusedToo: "--set fabric.link.latncy=1us"},
    ...output(base),
    ...(several ? {"--threads": {base, same: "--threads 1", why: "how many run at once changes no result"}}
      : {"--overlap": {base: `${base} --sequential`, refused: "--overlap"}, "--sequential,--no-overlap": together({base, with: "--sequential", useless: [`${shared} --tp 4 --sequential`]})}),
    ...(several ? {} : {"--workload": {base, writes: "step.json", refusedIn: alone, refused: "--workload never.json"}}),
    ...(command === "explain" ? {} : {"--trace": {base, writes: "t.pftrace"}, "--trace-interval": {base, refused: "--trace-interval 1us", writesToo: "t2.pftrace"}}),
  };
};

const K = {
  gemm: G,
  conv: "bench conv --batch 2 --height 14 --width 14 --json --no-timing",
  copy: "bench copy --size 4M --json --no-timing",
  stream: "bench stream --rows 40000 --cols 64 --json --no-timing",
  attention: "bench attention --batch 2 --sequence 128 --json --no-timing",
};
const ownOf = {
  gemm: {"-m": {base: "bench gemm -n 512 -k 256 --json --no-timing", with: "-m 256"}, "-n": {base: "bench gemm -m 512 -k 256 --json --no-timing", with: "-n 256"},
    "-k": {base: "bench gemm -m 512 -n 512 --json --no-timing", with: "-k 128"}, "--tile": {base: G, with: "--tile 128x128"}},
  conv: Object.fromEntries([["--batch", "3"], ["--height", "28"], ["--width", "28"], ["--channels", "32"], ["--filters", "32"], ["--filter-size", "5"], ["--stride", "2"], ["--pass", "filter"]]
    .map(([name, value]) => [name, {base: "bench conv --json --no-timing", with: `${name} ${value}`}])),
  copy: {"--size": {base: "bench copy --json --no-timing", with: "--size 4M", refusedToo: "--size 50"},
    "--engine": {base: K.copy, with: "--engine dma", useless: ["--sms-taken 20", `--sms-reserved 100 ${small}`].map((more) => `${K.copy} --engine dma ${more}`)}},
  stream: {"--op": {base: K.stream, with: "--op add"}, "--rows": {base: "bench stream --json --no-timing", with: "--rows 1000"}, "--cols": {base: "bench stream --rows 40000 --json --no-timing", with: "--cols 32"},
    "--grid": {base: "bench stream --op batch-norm --json --no-timing", with: "--grid together"}},
  attention: {...Object.fromEntries([["--batch", "3"], ["--sequence", "256"], ["--heads", "4"], ["--head-size", "128"]].map(([name, value]) => [name, {base: "bench attention --json --no-timing", with: `${name} ${value}`}])),
    "--backward": {base: K.attention, with: "--backward"}},
};

const table = {
  "bench": {
    "collective": {base: "bench all_gather -b 16K -g 4 --json --no-timing", against: B, with: ""},
    "-b,--minbytes": {base: "bench all_reduce -g 4 --json --no-timing", with: "-b 4K", refusedIn: "bench barrier -g 4", refused: "-b 4K"},
    "-e,--maxbytes": {base: B, with: "-e 32K -f 2", useless: [`${B} -e 1M`, `${B} -e 64K -f 8`], refusedIn: "bench barrier -g 4", refused: "-e 4K"},
    "-f,--stepfactor": {base: `${B} -e 2M`, with: "-f 64", refusedIn: B, refused: "-f 2"},
    "-i,--stepbytes": {base: `${B} -e 48K -i 32K`, against: `${B} -e 48K`, with: "-i 16K", refusedIn: B, refused: "-i 1K", useless: [`${B} -e 32K -f 2 -i 1K`]},
    "-g,--gpus,--ngpus": {base: "bench all_reduce -b 16K --json --no-timing", with: "-g 4"},
    "--nodes": {base: "bench all_reduce -b 16K --json --no-timing", with: "--nodes 2", refusedToo: "--nodes 2 --algo nvls"},
    "-d,--datatype": {base: "bench all_reduce -b 16K -g 4 --json --no-timing", with: "-d fp16", refusedIn: "bench barrier -g 4", refused: "-d fp16"},
    "-o,--op": {base: "bench all_reduce -b 16K -g 4 --no-timing", with: "-o max", refusedIn: "bench all_gather -b 4K -g 4", refused: "-o max"},
    "-r,--root": {base: "bench broadcast -b 16K -g 4 --system dgx1-v100 --algo tree --trace ROOT --no-timing --json", with: "-r 3", refusedIn: B, refused: "-r 1", file: true},
    "-n,--iters": {base: B, with: "-n 2"},
    "--groups": {base: B, with: "--groups 2"},
    "--concurrent": {base: B, with: "--concurrent 2"},
    "--program": {base: "bench --json --no-timing", with: `--program ${tree}`, refusedToo: `--program ${tree} --algo ring`, refusedThree: `--program ${tree} -g 4`},
    "--system": {base: B, with: "--system hgx-h100"},
    "--algo": {base: B, with: "--algo tree", refusedIn: "bench", refused: `--program ${tree} --algo ring`},
    "--proto": {base: B, with: "--proto simple", refusedIn: "bench", refused: `--program ${tree} --proto lll`},
    "--engine": {base: B, with: "--engine dma", refusedToo: `${inNetwork} --what-if inc --engine dma`},
    "--env": {base: "bench all_reduce -b 1M -g 4 --json --no-timing", with: "--env NCCL_ALGO=tree", refusedToo: "--env NCCL_ALGO=tree --algo ring"},
    "--channels": {base: "bench all_reduce -b 1M -g 4 --json --no-timing", with: "--channels 2", refusedToo: "--engine ace --channels 2"},
    "--what-if": {base: `${B} ${inNetwork}`, with: "--what-if inc"},
    "--burst": {base: "bench all_reduce -b 16M -g 2 --json --no-timing", with: "--burst 4KiB"},
    "--tune": {base: "bench all_reduce -b 4K -g 4 --no-timing", writes: "tuned.yaml"},
    "--tuning": {base: `${B} --algo auto`, refusedIn: `${B} --algo ring --proto simple`, refused: `--tuning ${tuning}`, with: `--tuning ${tuning}`},
    "--skew": {base: B, with: "--skew 20us"},
    "--delays": {base: B, with: "--delays 0us,5us,0us,0us", refusedToo: "--delays 0us,5us,0us,0us --skew 1us"},
    "--seed": {base: `${B} --skew 20us`, with: "--seed 9", refusedIn: B, refused: "--seed 9"},
    "--fail": {base: "bench all_reduce -b 1M -g 4 --json --no-timing", with: "--fail plane:2@5us"},
    "--fallback": {base: "bench all_reduce -b 1M -g 4 --json --no-timing --fail plane:2@5us", with: "--fallback tree", refusedIn: B, refused: "--fallback tree"},
    "--residency": {base: "bench all_reduce -b 16K -g 4 --no-timing", with: "--residency", refusedIn: B, refused: "--residency"},
    "--set": {base: B, with: "--set fabric.link.latency=1us", refusedToo: "--set inc.unitt=none"},
    "--check": {base: B, with: "--check"},
    "--inputs": {base: `${B} -d bf16 --check`, with: "--inputs real", refusedIn: B, refused: "--inputs real"},
    ...output(B),
    "--trace": {base: B, writes: "t.pftrace"},
    "--trace-interval": {base: B, refused: "--trace-interval 1us", writesToo: "t2.pftrace"},
  },
  ...Object.fromEntries(Object.entries(K).map(([kernel, own]) => [`bench ${kernel}`, {...kernelOptions(kernel, own), ...ownOf[kernel], ...output(own)}])),
  "train": stepOptions("train", false),
  "replay": {
    "file": {base: `replay ${loaded} --no-timing`, against: `replay ${profile} --no-timing`, with: ""},
    "--system": {base: R, with: "--system hgx-h100"},
    "-g,--gpus,--ngpus": {base: R, with: "--gpus 8", refusedToo: "--gpus 100"},
    "--step": {base: `replay ${profile} --json --no-timing`, with: "--step 1", refusedIn: R, refused: "--step 1", refusedToo: "--step 9"},
    "--algo": {base: R, with: "--algo tree", refusedIn: quiet, refused: "--algo tree"},
    "--program": {base: `replay ${profile} --json --no-timing`, with: `--program ${pair}`, refusedIn: R, refused: `--program ${pair}`},
    "--engine": {base: R, with: "--engine dma", refusedIn: quiet, refused: "--engine dma"},
    "--proto": {base: R, with: "--proto ll", refusedIn: quiet, refused: "--proto ll"},
    "--channels": {base: R, with: "--channels 2", refusedIn: quiet, refused: "--channels 2"},
    "--what-if": {base: `${R} ${inNetwork}`, with: "--what-if inc"},
    "--priority": {base: R, with: "--priority -5", refusedIn: quiet, refused: "--priority 5"},
    "--sms-reserved": {base: R, with: "--sms-reserved 60", refusedIn: quiet, refused: "--sms-reserved 60"},
    "--without": {base: R, with: "--without sm,l2,hbm", refusedIn: quiet, refused: "--without sm"},
    "--skew": {base: R, with: "--skew 50us"},
    "--seed": {base: `${R} --skew 50us`, with: "--seed 7", refusedIn: R, refused: "--seed 7"},
    "--burst": {base: R, with: "--burst 4KiB", refusedIn: quiet, refused: "--burst 1"},
    "--env": {base: R, with: "--env NCCL_ALGO=tree", refusedIn: quiet, refused: "--env NCCL_ALGO=tree", refusedToo: "--env NCCL_ALGO=rign"},
    "--nodes": {base: R, with: "--nodes 2 --gpus 16", refusedToo: "--nodes 0"},
    "--set": {base: R, with: "--set gpu.launch_gap=9us"},
    "--trace": {base: R, writes: "t.pftrace"},
    "--trace-interval": {base: R, refused: "--trace-interval 1us", writesToo: "t2.pftrace"},
    "--json": {base: R.replace(" --json", ""), with: "--json"},
    "--no-timing": {base: R.replace(" --no-timing", ""), with: "--no-timing"},
  },
  "compare": stepOptions("compare", true),
  "explain": stepOptions("explain", true),
  "study": {
    "study": {base: `study ${study} --json --no-timing`, against: `study ${hopes} --what-if inc --json --no-timing`, with: ""},
    "--threads": {base: `study ${study} --json --no-timing`, same: "--threads 1", why: "how many run at once changes no result"},
    "--nodes": {base: `study ${pod} --json --no-timing`, with: "--nodes 2"},
    "--set": {base: `study ${study} --json --no-timing`, with: "--set fabric.link.latency=5us"},
    "--what-if": {base: `study ${hopes} --json --no-timing`, with: "--what-if inc"},
    "--json-file": {base: `study ${study} --no-timing`, writes: "j.json"},
    ...output(`study ${study} --json --no-timing`),
  },
  "sweep": {
    "file": {base: "sweep", refused: "no-such-sweep"},
    "-o,--out": {base: `sweep ${sweep}`, writes: "named", as: "named.csv"},
    "-j,--jobs": {base: `sweep ${sweep} --json -o jobs`, same: "--jobs 1", why: "how many run at once changes no result"},
    "--fresh": {base: `sweep ${sweep} --json -o fresh`, same: "--fresh", why: "it throws away what is there; what comes is the same"},
    "--json": {base: `sweep ${sweep} -o json`, with: "--json"},
    "--report": {base: `sweep ${sweep} -o report`, writes: "s.html"},
  },
  "learn": {
    ...Object.fromEntries([["--system", "hgx-h100"], ["-g,--gpus,--ngpus", "4"], ["--algo", "tree"], ["--proto", "simple"], ["-d,--datatype", "bf16"], ["--hidden", "4"],
      ["--batch", "3"], ["--steps", "4"], ["--rate", "0.1"], ["--seed", "5"], ["--set", "fabric.link.latency=2us"]]
      .map(([name, value]) => [name, {base: `learn ${name === "-g,--gpus,--ngpus" ? "" : "-g 2"} ${name === "--steps" ? "" : "--steps 3"} --json`, with: `${name.split(",").at(-1)} ${value}`}])),
    "--nodes": {base: "learn --steps 3 --json", with: "--nodes 2"},
    "--what-if": {base: `learn -g 2 --steps 3 --json ${inNetwork}`, with: "--what-if inc"},
    "--json": {base: "learn -g 2 --steps 3", with: "--json"},
  },
  "validate": {
    "file": {base: "validate --only a", refused: "no-such.yaml", refusedToo: figures.replace("figures", "none")},
    "--only": {base: `validate ${figures} --json`, with: "--only a"},
    "-j,--jobs": {base: `validate ${figures} --json`, same: "--jobs 1", why: "how many run at once changes no result"},
    "--json": {base: `validate ${figures}`, with: "--json"},
    "--markdown": {base: `validate ${figures}`, with: "--markdown", refusedToo: "--markdown --json"},
    "--sensitivity": {base: `validate ${figures} --json`, with: "--sensitivity", refusedToo: `--sensitivity --report ${join(scratch, "never.html")}`},
    "--report": {base: `validate ${figures} --json`, writes: "v.html"},
    "--ladder": {base: "validate --only nano-ring", refused: `--ladder --markdown`, against: "validate --ladder --only nano-ring --json", with: ""},
    "--strict": {base: `validate ${figures} --json`, with: "--strict"},
  },
  "check": {"file": {base: "check dgx2", with: "klenk-16"}},
  "program": {
    "what": {base: "program", refused: "hide"},
    "collective": {base: "program show -g 4 --size 4K", with: "all_gather"},
    ...Object.fromEntries([["--algo", "tree"], ["--proto", "ll"], ["--engine", "dma"], ["--system", "mi300x-8"], ["-d,--datatype", "fp16"], ["--set", "coll.channels=2"]]
      .map(([name, value]) => [name, {base: `program show -g 4 --size ${name === "-d,--datatype" ? "4098" : "1M"}`, with: `${name.split(",").at(-1)} ${value}`}])),
    "--program": {base: "program show", with: `--program ${tree}`, against: `program show --proto ll --size 8K`, useless: ["all_gather", "--algo ring", "--engine sm", "--system dgx2", "-g 4", "-r 0", "--set coll.channels=2"].map((more) => `program show ${more.startsWith("-") ? "" : more} --program ${tree} ${more.startsWith("-") ? more : ""}`)},
    "--size": {base: "program show -g 4", with: "--size 4K"},
    "-g,--gpus,--ngpus": {base: "program show --size 4K", with: "-g 3"},
    "--nodes": {base: "program show --size 4K", with: "--nodes 2"},
    "-r,--root": {base: "program show broadcast -g 4 --size 4K", with: "-r 2", refusedIn: "program show -g 4 --size 4K", refused: "-r 2"},
    "--json": {base: "program show -g 2 --size 4K", with: "--json"},
  },
  "doctor": {
    "--system": {base: `doctor --log ${loss} --system ${duo} --json`, against: `doctor --log ${loss} --system r9nano-pcie-4 --json`, with: ""},
    "--log": {base: `doctor --system ${duo} --json --log ${loss}`, against: `doctor --system ${duo} --json --log ${sound}`, with: ""},
    "--set": {base: `doctor --log ${sound} --system ${duo} --json`, with: "--set coll.channels=1"},
    "--env": {base: `doctor --log ${sound} --system ${duo} --json`, with: "--env NCCL_ALGO=tree", refusedToo: "--env NCCL_ALGO=rign"},
    "--in-place": {base: `doctor --log ${sound} --system ${duo} --json`, with: "--in-place"},
    "--json": {base: `doctor --log ${sound} --system ${duo}`, with: "--json"},
    "--report": {base: `doctor --log ${sound} --system ${duo}`, writes: "d.html"},
  },
  "import": {
    "file": {base: `import ${topology}`, against: `import ${config}`, with: ""},
    "-o,--out": {base: `import ${topology}`, writes: "imported.yaml"},
    "--gpu": {base: `import ${topology}`, with: "--gpu h200", refusedIn: `import ${config}`, refused: "--gpu h200"},
    "--step": {base: `import ${profile}`, with: "--step 1", refusedIn: `import ${config}`, refused: "--step 1"},
    "-g,--gpus,--ngpus": {base: `import ${profile}`, with: "--gpus 4", refusedIn: `import ${config}`, refused: "--gpus 4"},
    "--json": {base: `import ${config}`, with: "--json"},
  },
  "export": {
    "kind": {base: `export program ${pair}`, refused: "twice"},
    "name": {base: `export program ${pair}`, refused: "twice"},
    "--format": {base: `export program ${alone}`, refused: "--format chakra", refusedToo: "--format onnx"},
    "-o,--out": {base: `export program ${alone}`, writes: "exported.xml"},
  },
  "list": {"what": {base: "list systems", against: "list gpus", with: ""}, "--json": {base: "list gpus", with: "--json"}},
  "describe": {
    "kind": {base: "describe system dgx2", against: "describe component link", with: ""},
    "name": {base: "describe system dgx2", against: "describe system dgx-a100", with: ""},
    "--nodes": {base: "describe system hgx-h100", with: "--nodes 2", refusedIn: "describe component link", refused: "--nodes 2"},
    "--json": {base: "describe gpu h100", with: "--json", refusedToo: "--json --yaml"},
    "--yaml": {base: "describe gpu h100", with: "--yaml", refusedIn: "describe component link", refused: "--yaml"},
  },
};

/** Commands and their options, from the help that the option parser writes. */
async function commandsOf(words) {
  const {out} = await run(`${words} --help`);
  const parts = out.split(/^(Positionals|Options|Subcommands):\n/m);
  const names = (title) => {
    const at = parts.indexOf(title);
    if (at < 0) return [];
    return [...parts[at + 1].split(/\n\n/)[0].matchAll(/^ {2}(\S+)/gm)].map((m) => m[1]);
  };
  const all = [[words, [...names("Positionals"), ...names("Options")].filter((name) => name !== "-h,--help" && name !== "--version")]];
  for (const sub of names("Subcommands")) all.push(...await commandsOf(`${words} ${sub}`.trim()));
  return all;
}

const failures = [];
const checked = {effects: 0, refusals: 0, same: 0};
async function expectRefused(what, words) {
  const {code, err} = await run(words);
  if (code !== 2 || err.trim().split("\n").length !== 1) failures.push(`${what}: not refused: infold ${words} (exit code ${code}) ${err}`);
  checked.refusals += 1;
}
async function checkOption(command, name, row) {
  const what = `${command} ${name}`;
  if (!row) return failures.push(`${what}: is not in the table of tests/tools/options.mjs: show its effect, or where it is refused`);
  const own = name.split(",").at(-1);
  if (row.with !== undefined) {
    const other = await run(`${row.against ?? row.base} ${row.with}`.trim());
    const plain = await run(row.base);
    if (![0, 1].includes(other.code)) failures.push(`${what}: infold ${row.against ?? row.base} ${row.with}: ${other.err}`);
    if (plain.code === other.code && plain.out === other.out) failures.push(`${what}: no effect of '${row.with || row.against}' on infold ${row.base}`);
    checked.effects += 1;
  }
  if (row.same !== undefined) {
    const [plain, other] = [await run(row.base), await run(`${row.base} ${row.same}`)];
    if (other.code !== 0 || plain.out !== other.out) failures.push(`${what}: differs, although ${row.why}`);
    checked.same += 1;
  }
  for (const target of [row.writes, row.writesToo].filter((t) => t)) {
    const path = join(scratch, `${command.replace(" ", "-")}-${target}`);
    const option = row.writesToo ? `--trace ${path} ${own} 500ns` : `${own} ${path}`;
    const {code, err} = await run(`${row.base} ${option}`);
    if (code !== 0 || !existsSync(row.as ? `${path}.csv` : path)) failures.push(`${what}: nothing is written (exit code ${code}) ${err}`);
    checked.effects += 1;
  }
  for (const words of row.useless ?? []) {
    const {code, err} = await run(words);
    if (code !== 2 || !/has no effect|would carry out nothing|has no experts/.test(err)) failures.push(`${what}: not said to have no effect: infold ${words} (exit code ${code}) ${err}`);
    checked.refusals += 1;
  }
  if (row.refused !== undefined) await expectRefused(what, `${row.refusedIn ?? row.base} ${row.refused}`);
  for (const more of [row.refusedToo, row.refusedThree]) if (more !== undefined) await expectRefused(what, `${row.base} ${more}`);
}

{
  const {out} = await new Promise((resolve) => execFile(infold, "program show --algo tree --size 4K -g 4 --json".split(" "), (_, out) => resolve({out})));
  writeFileSync(tree, out);
  writeFileSync(pair, (await new Promise((resolve) => execFile(infold, "program show --algo halving-doubling --size 4K -g 2 --json".split(" "), (_, out) => resolve({out})))).out);
  await run(`bench all_reduce -b 16K -g 4 --no-timing --tune ${tuning} --system dgx-a100 --algo direct`);
}
const work = [];
for (const [command, options] of await commandsOf("")) {
  for (const name of options) {
    const row = table[command]?.[name] ?? table[command]?.[name.split(",").at(-1)];
    work.push(() => checkOption(command, name, row));
  }
}
// --every N: the first of every N options, for builds that are slow.
const every = process.argv[3] === "--every" ? Number(process.argv[4]) : 1;
work.splice(0, work.length, ...work.filter((_, i) => i % every === 0));
const total = work.length;
if (total === 0) failures.push("the help lists no options");
await Promise.all(Array.from({length: availableParallelism()}, async () => {
  while (work.length > 0) await work.shift()();
}));
for (const failure of failures) console.error(`FAILED: ${failure.trim()}`);
console.log(`${total} options: ${checked.effects} effects, ${checked.refusals} refusals, ${checked.same} that rightly change nothing; ${ran.size} runs, ${failures.length} failures`);
process.exit(failures.length > 0 ? 1 : 0);
