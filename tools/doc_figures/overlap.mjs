// Figures of the study of overlap, and of training steps beside it.

const kModels = {"gpt2-xl": "GPT-2 XL", mlp: "MLP", vgg16: "VGG-16", "transformer-big": "Transformer-big", resnet50: "ResNet-50"};
const kGpus = {"hgx-h100": "H100", "dgx-a100": "A100", "r9nano-pcie-4": "R9 Nano on PCIe"};

export const percent = (share) => `${(share * 100).toFixed(1)} %`;
const whole = (share) => `${Math.round(share * 100)} %`;
const thousands = (n) => String(Math.round(n)).replace(/(\d)(?=(\d{3})+$)/g, "$1,");

/** The overlapped row of a method, e.g. "ring@dma"; undefined where the study leaves it out. */
function overlapped(rows, method) {
  const [algo, engine] = method.split("@");
  return rows.find((row) => row.variant === "overlap" && row.algo === algo && (engine ?? row.engine) === row.engine && (engine !== undefined || !["dma", "ace"].includes(row.engine)));
}
const study = (program) => program.json("study overlap").cases;
const model = (row) => kModels[row.model];
const caseName = (row) =>
  `${model(row)}, batch ${row.batch}${row.model === "transformer-big" ? ` of ${row.tokens} tokens` : ""}, ${row.gpus} ${kGpus[row.system]}`;
const slowdown = (row) => (row === undefined ? "" : percent(row.backward_slowdown));

function headline(program) {
  const methods = ["ring", "ring@dma", "inc-pull", "inc-push"];
  return [
    ["", "slower with ring", "DMA ring", "in-network pull", "in-network push", "repaired by push"],
    Array(6).fill("---"),
    ...study(program).map((c) => {
      const rows = methods.map((method) => overlapped(c.rows, method));
      return [
        `${caseName(rows[0])}${c.communication_heavy ? "" : ": computes more than it sends"}`,
        ...rows.map(slowdown),
        c.communication_heavy ? whole(rows[3].repaired) : "(little to gain)",
      ];
    }),
  ];
}

function cost(program) {
  const light = program.json("train --system dgx-a100 --model resnet50 --batch 256 --algo ring");
  const rows = [light, ...study(program).map((c) => overlapped(c.rows, "ring"))];
  return [
    ["", "backward alone", "slower", "beside"],
    Array(4).fill("---"),
    ...rows.map((row) => [
      caseName(row),
      `${row.backward_alone_ms.toFixed(row.backward_alone_ms < 1 ? 2 : 1)} ms`,
      percent(row.backward_slowdown),
      whole(row.slowdown_while_communicating),
    ]),
  ];
}

function left(program) {
  const methods = ["ring", "ring@dma", "ring@ace", "nvls", "inc-pull", "inc-push"];
  const cell = (row) => (row === undefined ? "" : `${slowdown(row)}, ${row.repaired > 0 ? whole(row.repaired) : "none"}`);
  return [
    ["", "ring", "ring by DMA", "ring by ACE", "nvls", "inc-pull", "inc-push"],
    Array(7).fill("---"),
    ...study(program).filter((c) => c.communication_heavy).map((c) => {
      const [ring, ...others] = methods.map((method) => overlapped(c.rows, method));
      return [`${model(ring)}, ${ring.gpus} ${kGpus[ring.system]}`, slowdown(ring), ...others.map(cell)];
    }),
  ];
}

const kBatches = [224, 240, 256, 272, 288, 320];
function byBatch(program) {
  const runs = kBatches.map((batch) => program.json(`compare --system hgx-h100 --model mlp --batch ${batch} --dtype bf16 --what-if inc --algo ring,inc-push,inc-pull`).rows);
  return [
    ["batch", ...kBatches],
    Array(kBatches.length + 1).fill("---"),
    ...["inc-push", "inc-pull"].map((method) => [method, ...runs.map((rows) => whole(overlapped(rows, method).repaired))]),
  ];
}

const kThroughput = [
  ["ResNet-50, mixed, batch 256, A100-80, eager", "2470 img/s (PyTorch)", 2470, "--model resnet50 --batch 256 --system dgx-a100"],
  ["the same, fused", "3410 (MXNet)", 3410, "--model resnet50 --batch 256 --system dgx-a100 --fusion fused"],
  ["ResNet-50, mixed, batch 256, V100, eager", "1200 (PyTorch)", 1200, "--model resnet50 --batch 256 --system dgx1-v100"],
  ["the same, fused", "1376 to 1492", undefined, "--model resnet50 --batch 256 --system dgx1-v100 --fusion fused"],
  ["BERT-large, 512 tokens, mixed, batch 32, A100-80, fused, Adam", "210 seq/s", 210, "--model bert-large --batch 32 --system dgx-a100 --fusion fused --optimizer adam"],
  ["the same, 64 passes per step", "210", 210, "--model bert-large --batch 32 --system dgx-a100 --fusion fused --optimizer adam --accumulate 64"],
  ["the same with 64 passes, eager", "", undefined, "--model bert-large --batch 32 --system dgx-a100 --fusion eager --optimizer adam --accumulate 64"],
];
function throughput(program) {
  return [
    ["", "published", "simulated", ""],
    Array(4).fill("---"),
    ...kThroughput.map(([name, said, published, options]) => {
      const {samples_per_s: simulated} = program.json(`train --gpus 1 ${options}`);
      const error = published === undefined ? "" : `${simulated >= published ? "+" : "-"}${Math.abs((simulated / published - 1) * 100).toFixed(0)} %`;
      return [name, said, simulated.toFixed(0), error];
    }),
  ];
}

const many = (program, more) => program.json(`train --system dgx-a100 --model resnet50 --batch 256 --algo ring${more}`);
const scaling = (program, more) =>
  (many(program, more).samples_per_s / program.json(`train --gpus 1 --model resnet50 --batch 256 --system dgx-a100${more}`).samples_per_s).toFixed(2);

export const overlapFigures = {
  "overlap-headline": {long: true, table: headline},
  "overlap-cost": {long: true, table: cost},
  "overlap-left": {long: true, table: left},
  "mlp-by-batch": {long: true, table: byBatch},
  "throughput": {long: true, table: throughput},
  "resnet-images": {long: true, words: (program) => `${thousands(many(program, "").samples_per_s)} images/s`},
  "resnet-scaling": {long: true, words: (program) => `${scaling(program, "")} times`},
  "resnet-fused-images": {long: true, words: (program) => thousands(many(program, " --fusion fused").samples_per_s)},
  "resnet-fused-scaling": {long: true, words: (program) => `${scaling(program, " --fusion fused")} times`},
};
