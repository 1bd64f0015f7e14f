// The rows of a sweep as dimensions (what was varied) and measures (what came of it).
import {Sweep, SweepCell} from "./payload";
import {quantities} from "./quantity";
import {readable} from "./readable";
import {size} from "./format";

export interface Dimension {
  name: string;
  /** In the order of the sweep. */
  values: string[];
  /** The same as numbers, if all of them are numbers of one kind. */
  numbers: number[] | null;
}
export interface SweepRow {
  /** Which value it has of each dimension. */
  at: number[];
  cells: Record<string, SweepCell>;
}
/** A result: its column, and what people call it. */
export interface Measure {
  column: string;
  name: string;
}
export interface SweepData {
  dimensions: Dimension[];
  measures: Measure[];
  rows: SweepRow[];
}

const text = (cell: SweepCell | undefined): string => (cell === undefined || cell === null || cell === "" ? "(as it is)" : String(cell));

/** What tells rows of one point apart: bench has one for each size and algorithm, compare for each variant. */
const kInner = ["bytes", "system", "algo", "proto", "engine", "variant", "cause"];

/** What may follow from algorithm and size, where it was left to be chosen. */
const kFollowing = ["engine", "proto"];

/** Whether no two rows differ in one column alone. */
function follows(column: number[], others: number[][]): boolean {
  const seen = new Map<string, number>();
  return column.every((value, row) => {
    const key = others.map((o) => o[row]).join();
    if (!seen.has(key)) seen.set(key, value);
    return seen.get(key) === value;
  });
}

function innerColumns(rows: Record<string, SweepCell>[]): string[] {
  const first = new Map<SweepCell, Record<string, SweepCell>>();
  const differ = new Set<string>();
  for (const row of rows) {
    const other = first.get(row.point);
    if (other === undefined) first.set(row.point, row);
    else for (const name of kInner) if (name in row && row[name] !== other[name]) differ.add(name);
  }
  return kInner.filter((name) => differ.has(name));
}

export function sweepData(sweep: Sweep): SweepData {
  const done = sweep.rows.filter((row) => row.status === "done");
  const groups = [...sweep.axes, ...innerColumns(done).map((name) => [name])];
  const all = groups.map((names) => {
    const places = new Map<string, number>();
    const of = done.map((row) => {
      const value = names.map((name) => (name === "bytes" && typeof row[name] === "number" ? size(row[name]) : text(row[name]))).join(", ");
      if (!places.has(value)) places.set(value, places.size);
      return places.get(value)!;
    });
    const values = [...places.keys()];
    return {dimension: {name: names.map(readable).join(", "), values, numbers: quantities(values)}, of};
  });
  // What was the same everywhere is nothing to choose by, nor is what follows from the rest.
  let kept = all.filter((d) => d.dimension.values.length > 1);
  for (const name of kFollowing) {
    const rest = kept.filter((d) => d.dimension.name !== readable(name));
    if (rest.length < kept.length && follows(kept.find((d) => !rest.includes(d))!.of, rest.map((d) => d.of))) kept = rest;
  }
  const taken = new Set(groups.flat());
  const names = [...new Set(done.flatMap((row) => Object.keys(row)))].filter((name) => name !== "point" && !taken.has(name));
  const isMeasure = (name: string) => {
    const values = done.map((row) => row[name]).filter((v) => v !== undefined && v !== null);
    return values.length > 0 && values.every((v) => typeof v === "number");
  };
  const moves = (name: string) => new Set(done.map((row) => row[name])).size > 1;
  const measures = names.filter(isMeasure);
  const shown = sweep.show.filter((name) => measures.includes(name));
  const first = ["time_us", "phases_ms.step", "slowdown", "speedup_vs_sequential"].filter((name) => measures.includes(name) && moves(name));
  const rest = measures.filter(moves);
  return {
    dimensions: kept.map((d) => d.dimension),
    measures: [...new Set([...shown, ...first, ...rest, ...measures.slice(0, 1)])].map((column) => ({column, name: readable(column)})),
    rows: done.map((row, i) => ({at: kept.map((d) => d.of[i]), cells: row})),
  };
}

export const measureOf = (row: SweepRow, name: string): number | null => {
  const value = row.cells[name];
  return typeof value === "number" ? value : null;
};

/** "inc-push, table 256 B": the values of a row, with the names of what was varied. */
export function whereOf(data: SweepData, row: SweepRow): string {
  return data.dimensions.map((d, i) => `${d.name} ${d.values[row.at[i]]}`).join(", ");
}
