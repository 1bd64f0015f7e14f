// Figures of reduction tables in switches: the sweep table-knee, and several collectives at once.
import {percent} from "./overlap.mjs";

const kSizes = ["256 B", "512 B", "1 KiB", "2 KiB", "4 KiB", "16 KiB", "64 KiB"];
const kKnee = "table-knee";

const point = (program, algo, room) => program.sweep(kKnee).find((row) => row["--algo"] === algo && row["inc.table_bytes"] === room);

function knee(program) {
  return [
    ["", ...kSizes],
    Array(kSizes.length + 1).fill("---"),
    ...["nvls", "inc-pull", "inc-push"].map((algo) => [algo, ...kSizes.map((room) => Number(point(program, algo, room).time_us).toFixed(1))]),
  ];
}

/** The least table that is at most 2 % slower than the best of any. */
function least(program, algo) {
  const rows = program.sweep(kKnee).filter((row) => row["--algo"] === algo);
  const best = Math.min(...rows.map((row) => Number(row.time_us)));
  return rows.find((row) => Number(row.time_us) <= 1.02 * best)["inc.table_bytes"];
}

const kAtOnce = [
  ["`--algo inc-push --concurrent 2`", "--algo inc-push --concurrent 2", "--algo inc-push"],
  ["the same with 256 B of table per port", "--algo inc-push --concurrent 2 --set inc.table_bytes=256B", "--algo inc-push --set inc.table_bytes=256B"],
  ["`--algo inc-pull --concurrent 2`", "--algo inc-pull --concurrent 2", "--algo inc-pull"],
  ["`--algo inc-push --groups 2`", "--algo inc-push --groups 2", "--algo inc-push -g 8"],
  ["`--algo inc-pull --groups 2`", "--algo inc-pull --groups 2", "--algo inc-pull -g 8"],
];
function atOnce(program) {
  const run = (options) => program.json(`bench all_reduce --system klenk-16 -b 4M -e 4M --burst 1 ${options}`).results[0];
  return [
    ["`klenk-16`, 4 MiB each, `--burst 1`", "µs", "alone", "together, relative to one at a time", "least share"],
    Array(5).fill("---"),
    ...kAtOnce.map(([name, together, alone]) => {
      const [both, one] = [run(together), run(alone)];
      return [name, both.time_us.toFixed(1), one.time_us.toFixed(1), `${((200 * one.time_us) / both.time_us).toFixed(0)} %`, percent(both.fairness.least_share)];
    }),
  ];
}

export const inNetworkFigures = {
  "table-knee": {long: true, table: knee},
  "knee-of-nvls": {long: true, words: (program) => least(program, "nvls")},
  "knee-of-pull": {long: true, words: (program) => least(program, "inc-pull")},
  "push-entries": {long: true, words: (program) => point(program, "inc-push", "64 KiB")["inc.table_peak_entries"]},
  "push-stalls": {long: true, words: (program) => point(program, "inc-push", "256 B")["inc.stalls"]},
  "at-once": {long: true, table: atOnce},
};
