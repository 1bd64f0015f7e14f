// Figures of the study of the thesis, and of the sweeps that say what limits the range of sizes in which a switch wins.
const study = (program) => program.json("study thesis");

const kNames = {"r9nano-pcie-4": "4 R9 Nano on PCIe", "hgx-h100": "HGX H100"};
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A line per sentence, a column per machine. */
function sentences(program) {
  const {sentences: all} = study(program);
  const systems = [...new Set(all.map((s) => s.system))];
  const said = (number, system) => {
    const of = all.filter((s) => s.number === number && s.system === system);
    const holding = of.filter((s) => s.holds).length;
    const verdict = holding === 0 ? "**no**" : holding === of.length ? "**yes**" : "**in part**";
    return `${verdict}: ${of.map((s) => s.said).join(", ")}`;
  };
  return [
    ["", ...systems.map((s) => kNames[s])],
    Array(systems.length + 1).fill("---"),
    ...[1, 2, 3, 4].map((number) => [`${number}. ${capital(all.find((s) => s.number === number).claim)}`, ...systems.map((s) => said(number, s))]),
  ];
}

const size = (bytes) => (bytes >= 1 << 20 ? `${bytes / (1 << 20)} MiB` : `${bytes / 1024} KiB`);

/** The lines of a sweep's map whose settings are these: who is the fastest by size, and how many times as fast as ring. */
function map(program, sweep, settings) {
  const rows = program.sweep(sweep).filter((row) => row.status === "done");
  const sizes = [...new Set(rows.map((row) => Number(row.bytes)))].sort((a, b) => a - b);
  const cell = (of, bytes) => {
    const here = of.filter((row) => Number(row.bytes) === bytes);
    const best = here.reduce((a, b) => (Number(b.time_us) < Number(a.time_us) ? b : a));
    const ring = here.find((row) => row.algo === "ring");
    return best.algo === "ring" ? "ring" : `${best.algo} ${(Number(ring.time_us) / Number(best.time_us)).toFixed(2)}`;
  };
  return [
    ["setting", ...sizes.map(size)],
    Array(sizes.length + 1).fill("---"),
    ...settings.map(([name, setting]) => {
      const of = rows.filter((row) => Object.entries(setting).every(([column, value]) => row[column] === value));
      if (of.length === 0) throw new Error(`${sweep} has no point ${JSON.stringify(setting)}`);
      return [name, ...sizes.map((bytes) => cell(of, bytes))];
    }),
  ];
}

const usual = {"inc.table_full": "stall", "--skew": "", "gpu.engine.start": ""};
const nano = (more) => ({...usual, "inc.table_bytes": "16 KiB", "inc.alu_rate": "25 GB/s", ...more});
const kNano = [
  ["16 KiB of table, adders of 25 GB/s", nano({})],
  ["adders of 6 GB/s", nano({"inc.alu_rate": "6 GB/s"})],
  ["adders of 2 GB/s", nano({"inc.alu_rate": "2 GB/s"})],
  ["adders of 6 GB/s, 512 B", nano({"inc.alu_rate": "6 GB/s", "inc.table_bytes": "512 B"})],
  ["bypass, 512 B", nano({"inc.table_full": "bypass", "inc.table_bytes": "512 B"})],
  ["bypass, GPUs up to 5 us late, 2 KiB", nano({"inc.table_full": "bypass", "--skew": "5us", "inc.table_bytes": "2 KiB"})],
  ["bypass, GPUs up to 50 us late", nano({"inc.table_full": "bypass", "--skew": "50us"})],
  ["stall, GPUs up to 50 us late", nano({"--skew": "50us"})],
  ["engine starts after 25 us", nano({"gpu.engine.start": "25 us"})],
  ["engine starts after 25 us, adders of 6 GB/s", nano({"gpu.engine.start": "25 us", "inc.alu_rate": "6 GB/s"})],
];
const h100 = (more) => ({...usual, "inc.table_bytes": "64 KiB", "inc.alu_rate": "1600 GB/s", ...more});
const kH100 = [
  ["64 KiB of table, adders of 1600 GB/s", h100({})],
  ["adders of 200 GB/s", h100({"inc.alu_rate": "200 GB/s"})],
  ["adders of 100 GB/s", h100({"inc.alu_rate": "100 GB/s"})],
  ["1 KiB of table", h100({"inc.table_bytes": "1 KiB"})],
  ["bypass, 1 KiB", h100({"inc.table_full": "bypass", "inc.table_bytes": "1 KiB"})],
  ["bypass, GPUs up to 20 us late, 1 KiB", h100({"inc.table_full": "bypass", "--skew": "20us", "inc.table_bytes": "1 KiB"})],
  ["bypass, GPUs up to 20 us late, 64 KiB", h100({"inc.table_full": "bypass", "--skew": "20us"})],
  ["stall, GPUs up to 20 us late, 1 KiB", h100({"--skew": "20us", "inc.table_bytes": "1 KiB"})],
  ["engine starts after 25 us", h100({"gpu.engine.start": "25 us"})],
  ["engine starts after 25 us, adders of 200 GB/s", h100({"gpu.engine.start": "25 us", "inc.alu_rate": "200 GB/s"})],
];

export const thesisFigures = {
  "thesis": {long: true, table: sentences},
  "window-r9nano": {long: true, table: (program) => map(program, "window-r9nano", kNano)},
  "window-h100": {long: true, table: (program) => map(program, "window-h100", kH100)},
};
