// Rows of a bench, put together into lines of a chart: one for each thing that was asked for.
import {BenchResult} from "./payload";
import {methodName} from "./methods";

export interface Line {
  name: string;
  system: string;
  /** "ring", or "auto" where it was chosen size by size. */
  algo: string;
  rows: BenchResult[];
}

type Field = "system" | "algo" | "engine" | "proto";
const kFields: Field[] = ["system", "algo", "engine", "proto"];

/** The rows of each size come in the same order; where they do not (--tune), what they say tells them apart. */
function group(rows: BenchResult[]): BenchResult[][] {
  const blocks: BenchResult[][] = [];
  for (const row of rows) {
    const last = blocks[blocks.length - 1];
    if (last !== undefined && last[0].bytes === row.bytes) last.push(row);
    else blocks.push([row]);
  }
  const width = blocks[0]?.length ?? 0;
  const aligned = blocks.every((b) => b.length === width && b.every((row, i) => row.system === blocks[0][i].system));
  if (aligned) return Array.from({length: width}, (_, i) => blocks.map((b) => b[i]));
  const groups = new Map<string, BenchResult[]>();
  for (const row of rows) {
    const key = JSON.stringify(kFields.map((f) => row[f]));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

function common(rows: BenchResult[], field: Field): string {
  return rows.every((row) => row[field] === rows[0][field]) ? rows[0][field] : "auto";
}

/** As few words as tell the lines apart: system and algorithm, then engine, then protocol. */
function shortest(said: string[][]): string[] {
  const differs = (field: number) => new Set(said.map((s) => s[field])).size > 1;
  for (const most of [2, 3, 4]) {
    const used = kFields.map((_, f) => f).filter((f) => f < most && f !== 2 && differs(f));
    const engines = most > 2 && differs(2);
    const words = used.length > 0 || engines ? [...new Set([...used, ...(engines ? [1] : [])])].sort() : [1];
    const names = said.map((s) => words.map((f) => (f === 1 && engines ? methodName(s[1], s[2]) : s[f])).join(" "));
    if (new Set(names).size === names.length) return names;
  }
  return said.map((s, i) => `${s.join(" ")} #${i + 1}`); // asked for twice
}

export function lines(rows: BenchResult[]): Line[] {
  const drawn = group(rows.filter((row) => row.bytes > 0 && row.time_us > 0));
  const said = drawn.map((g) => kFields.map((f) => common(g, f)));
  const names = shortest(said);
  return drawn.map((g, i) => ({
    name: names[i],
    system: said[i][0],
    algo: said[i][1],
    rows: [...g].sort((a, b) => a.bytes - b.bytes),
  }));
}
