// Every parameter at its least and its most value (every choice of a list), one at a time, in small runs of every
// algorithm, engine and kernel: each gives a result or a refusal of one line, soon and in bounded memory.
//   extremes.mjs <infold> [--sample N] [--jobs N] [--seconds N] [--memory GB|none] [--only WORD]
// `--sample N` takes N of the runs, spread evenly, and those that went wrong once; `--only` those whose command line holds the word.
import {execFileSync, spawn} from "node:child_process";
import {availableParallelism} from "node:os";
import {parseArgs} from "node:util";

const {values: options, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    sample: {type: "string"},
    jobs: {type: "string", default: String(availableParallelism())},
    seconds: {type: "string", default: "20"},  // of processor time that a run may take
    memory: {type: "string", default: "4"},  // GB of address space a run may take; none where sanitizers need more
    only: {type: "string", default: ""},
  },
});
const [infold] = positionals;
if (!infold) {
  console.error("usage: extremes.mjs <infold> [--sample N] [--jobs N] [--seconds N] [--memory GB|none] [--only WORD]");
  process.exit(2);
}

const small = "-b 16K -e 16K -g 4";
/** What runs, and on which parameters that can bear. */
const commands = [
  ...["--algo ring --proto simple", "--algo ring --proto ll", "--algo ring --proto ll128", "--algo auto", "--algo direct",
    "--algo two-shot --engine dma", "--algo ring --engine dma", "--algo ring --engine ace", "--algo inc-push", "--algo inc-pull",
    "--algo nvls", "--algo inc-push --fail plane:0@1us"]
    .map((words) => ({system: "klenk-16", on: "", words: `bench all_reduce ${small} --system klenk-16 ${words}`})),
  ...["klenk-128", "mi300x-8", "dgx1-v100", "r9nano-pcie-4"]
    .map((system) => ({system, on: "fabric.", words: `bench all_reduce ${small} --system ${system}`})),
  ...["topology=ring --set fabric.links_per_neighbour=2", "topology=torus --set fabric.dims=4,4"]
    .map((words) => ({system: "klenk-16", on: "fabric.", words: `bench all_reduce ${small} --system klenk-16 --set fabric.${words}`})),
  ...["nic.", "host.", "scale_out."].flatMap((on) => ["ring --proto simple", "direct", "tree --proto ll"]
    .map((algo) => ({system: "dgx-h100-superpod", on, words: `bench all_reduce -b 16K -e 16K --system dgx-h100-superpod --nodes 3 --set gpus=2 --algo ${algo}`}))),
  {system: "klenk-128", on: "inc.", words: `bench all_reduce ${small} --system klenk-128 --algo inc-push`},
  ...["gemm -m 256 -n 256 -k 128", "gemm -m 256 -n 256 -k 128 -d tf32", "conv --batch 2 --height 14 --width 14",
    "conv --batch 2 --height 14 --width 14 --pass filter", "copy --size 1M", "copy --size 1M --engine dma",
    "stream --op batch-norm-backward --rows 4000 --cols 64 --grid together", "attention --batch 1 --sequence 128 --backward"]
    .map((words) => ({system: "dgx-a100", on: "gpu.", words: `bench ${words} --gpu a100-80`})),
  {system: "dgx-a100", on: "", words: "bench gemm -m 256 -n 256 -k 128 --beside all_reduce --size 16K"},
  ...["--gpus 1", "--gpus 4", "--gpus 4 --engine dma", "--gpus 4 --algo inc-push --what-if inc"]
    .map((words) => ({system: "hgx-h100", on: "", words: `train --model lenet --batch 4 --system hgx-h100 ${words}`})),
];

const described = new Map();
function parametersOf(system) {
  if (!described.has(system)) {
    const text = execFileSync(infold, ["describe", "system", system, "--json"], {encoding: "utf8"});
    described.set(system, JSON.parse(text).parameters);
  }
  return described.get(system);
}

/** The ends of a parameter's range, or all there is to choose from. */
function extremesOf(parameter) {
  if (parameter.type === "true or false") return ["true", "false"];
  if (parameter.choices?.length > 0) return parameter.choices.map((c) => c.name ?? c);
  return [parameter.min, parameter.max];
}

const runs = commands.flatMap(({system, on, words}) =>
  parametersOf(system)
    .filter((p) => p.path.startsWith(on))
    .flatMap((p) => extremesOf(p).map((value) => [...words.split(" "), "--set", `${p.path}=${value}`, "--json", "--no-timing"])))
  .filter((words) => words.join(" ").includes(options.only));

/** A number that cannot be, anywhere in a result: less than nothing, or none at all (NaN and infinity become null). */
function nonsense(value, path = "") {
  // Beside other work, or with parameters at an end, a step may get shorter by chance: that is a share below 0.
  if (/slowdown|more|lost|share|error/.test(path)) return null;
  if (typeof value === "number" && value < 0) return `${path} is ${value}`;
  if (value !== null && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) {
      const found = nonsense(inner, path ? `${path}.${key}` : key);
      if (found) return found;
    }
  }
  return null;
}

/** What is wrong with how a run ended; null: nothing. */
function complaint(code, signal, stopped, out, err) {
  if (stopped || signal === "SIGXCPU") return `not done after ${options.seconds} s`;
  if (signal) return `ended by ${signal}: ${err.trim()}`;
  const lines = err.split("\n").filter((line) => line !== "");
  if (code === 0) {
    try {
      return nonsense(JSON.parse(out));
    } catch (error) {
      return `printed no JSON: ${error.message}`;
    }
  }
  if (code === 2) return lines.length === 1 ? null : `a refusal of ${lines.length} lines: ${err.trim()}`;
  if (code === 1 && /deadlock/.test(err)) return null;
  return `exit code ${code}: ${err.trim()}`;
}

const patience = 20;  // real time, in processor times allowed: the machine may have other things to do
const limits = `ulimit -c 0; ulimit -t ${options.seconds}; ` +
  (options.memory === "none" ? "" : `ulimit -v ${Math.round(Number(options.memory) * 1e6)}; `);
function run(words) {
  return new Promise((resolve) => {
    const child = spawn("bash", ["-c", `${limits}exec "$@"`, "bash", infold, ...words], {stdio: ["ignore", "pipe", "pipe"]});
    let out = "", err = "", stopped = false;
    child.stdout.on("data", (bytes) => (out += bytes));
    child.stderr.on("data", (bytes) => (err += bytes));
    const timer = setTimeout(() => { stopped = true; child.kill("SIGKILL"); }, Number(options.seconds) * patience * 1000);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({code, wrong: complaint(code, signal, stopped, out, err)});
    });
  });
}

// What went wrong once is in every sample.
const suspects = ["gpu.sm.threads=256", "gpu.l2.capacity=64 GiB"];
const stride = options.sample ? Math.max(1, runs.length / Number(options.sample)) : 1;
const sampled = new Set();
for (let i = 0; i < runs.length; i += stride) sampled.add(Math.floor(i));
const chosen = runs.filter((words, i) => sampled.has(i) || words.some((word) => suspects.includes(word)));

const counts = {results: 0, refusals: 0, failures: 0};
let next = 0;
async function work() {
  while (next < chosen.length) {
    const words = chosen[next++];
    const {code, wrong} = await run(words);
    if (wrong) {
      counts.failures++;
      console.log(`FAILED: infold ${words.map((w) => (/[ [\]]/.test(w) ? `'${w}'` : w)).join(" ")}\n  ${wrong.slice(0, 400)}`);
    } else if (code === 0) counts.results++;
    else counts.refusals++;
  }
}
await Promise.all(Array.from({length: Number(options.jobs)}, work));
console.log(`${chosen.length} of ${runs.length} runs: ${counts.results} results, ${counts.refusals} refusals, ${counts.failures} failures`);
process.exit(counts.failures === 0 && chosen.length > 0 ? 0 : 1);
