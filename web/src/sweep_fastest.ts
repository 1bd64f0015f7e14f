// The map of a sweep: which algorithm is the fastest over two of the things that were varied, with the rest held.
import type {CustomSeriesOption} from "echarts";
import {Choice, Figure} from "./figure";
import {SweepData, measureOf} from "./sweep_data";
import {digits, list} from "./format";
import {grid, tip} from "./axes";
import {stylesOf} from "./methods";

const kTime = "time_us";
const kBase = "ring";

interface Picked {
  across: number;
  up: number;
  held: number[];
}
interface Cell {
  at: number[];
  /** Of each algorithm, by its place among the dimension's values. */
  times: (number | null)[];
  fastest: number;
}

/** What belongs to an algorithm, and is chosen with it. */
const kWithIt = ["algorithm", "protocol", "engine"];
const isSetting = (data: SweepData, i: number): boolean => !kWithIt.includes(data.dimensions[i].name);
const algorithmOf = (data: SweepData): number => data.dimensions.findIndex((d) => d.name === "algorithm");

/** What differs in nothing but the algorithm is one cell. */
function cellsOf(data: SweepData): Cell[] {
  const algorithm = algorithmOf(data);
  const cells = new Map<string, Cell>();
  for (const row of data.rows) {
    const time = measureOf(row, kTime);
    if (time === null) continue;
    const key = row.at.filter((_, i) => isSetting(data, i)).join();
    const cell = cells.get(key) ?? {at: row.at, times: data.dimensions[algorithm].values.map(() => null), fastest: row.at[algorithm]};
    cell.times[row.at[algorithm]] = Math.min(time, cell.times[row.at[algorithm]] ?? Infinity);
    if (time < cell.times[cell.fastest]!) cell.fastest = row.at[algorithm];
    cells.set(key, cell);
  }
  return [...cells.values()];
}

/** "inc-push is the fastest at 30 of 96 settings, ring at 66." */
export function fastestInWords(data: SweepData): string | undefined {
  if (algorithmOf(data) < 0) return undefined;
  const cells = cellsOf(data);
  const counts = data.dimensions[algorithmOf(data)].values.map((name, i) => ({name, n: cells.filter((c) => c.fastest === i).length}));
  const said = counts.filter((c) => c.n > 0).sort((a, b) => b.n - a.n).map((c) => `${c.name} at ${c.n}`);
  return `Of ${cells.length} combinations of size and machine the fastest is ${list(said)}.`;
}

function figureOf(data: SweepData, all: Cell[], p: Picked): Figure {
  const algorithm = algorithmOf(data);
  const names = data.dimensions[algorithm].values;
  const styles = stylesOf(names);
  const base = names.indexOf(kBase);
  const [across, up] = [data.dimensions[p.across], data.dimensions[p.up]];
  const cells = all.filter((c) => c.at.every((v, i) => i === p.across || i === p.up || !isSetting(data, i) || v === p.held[i]));
  const ratio = (c: Cell) => (base >= 0 && c.times[base] !== null ? c.times[base]! / c.times[c.fastest]! : null);
  const held = data.dimensions.flatMap((d, i) => (i === p.across || i === p.up || !isSetting(data, i) ? [] : [`${d.name} ${d.values[p.held[i]]}`]));
  const others = data.dimensions.map((d, i) => ({d, i})).filter(({i}) => isSetting(data, i));
  const choices: Choice[] = [
    {label: "across", options: others.map(({d}) => d.name), chosen: others.findIndex(({i}) => i === p.across)},
    {label: "up", options: others.map(({d}) => d.name), chosen: others.findIndex(({i}) => i === p.up)},
    ...others.map(({d, i}) => ({label: d.name, options: d.values, chosen: p.held[i], hidden: i === p.across || i === p.up})),
  ];
  const axis = (d: {name: string; values: string[]}, theme: {soft: string}) => ({
    type: "category" as const,
    data: d.values,
    name: d.name,
    nameTextStyle: {color: theme.soft},
    axisLabel: {color: theme.soft, hideOverlap: true},
    axisLine: {show: false},
    axisTick: {show: false},
  });
  const seen = names.map((_, i) => i).filter((i) => cells.some((c) => c.fastest === i));
  return {
    id: "fastest",
    title: `The fastest over ${across.name} and ${up.name}`,
    caption: `The colour is that of the fastest algorithm; the number says how many times as fast as ${kBase} it is.${held.length > 0 ? ` At ${held.join(", ")}.` : ""}`,
    description: cells.map((c) => `${across.values[c.at[p.across]]}, ${up.values[c.at[p.up]]}: ${names[c.fastest]}`).join("; "),
    height: Math.min(90 + 34 * up.values.length, 620),
    zoom: false,
    legend: seen.map((i) => ({name: names[i], colour: styles[i].colour, symbol: "rect"})),
    choices,
    choose: ([a, u, ...rest]) => {
      const kept = data.dimensions.map((_, i) => (!isSetting(data, i) ? 0 : rest[others.findIndex((o) => o.i === i)]));
      const [x, y] = [others[a].i, others[u].i];
      const same = x === y; // one cannot be both: what was chosen last stays
      return figureOf(data, all, {across: same && x === p.across ? p.up : x, up: same && x !== p.across ? p.across : y, held: kept});
    },
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: 28},
      xAxis: {...axis(across, theme), nameLocation: "middle" as const, nameGap: 28},
      yAxis: {...axis(up, theme), nameTextStyle: {color: theme.soft, align: "left" as const, padding: [0, 0, 0, -24]}},
      tooltip: {
        trigger: "item" as const,
        formatter: (params: unknown) => {
          const [x, y] = (params as {value: number[]}).value;
          const cell = cells.find((c) => c.at[p.across] === x && c.at[p.up] === y)!;
          return tip(`${across.values[x]}, ${up.name} ${up.values[y]}`, names.flatMap((name, i): [string, string][] => (cell.times[i] === null ? [] : [[styles[i].colour, `${name}: ${digits(cell.times[i]!)} us`]])));
        },
      },
      series: seen.map(
        (i): CustomSeriesOption => ({
          type: "custom",
          name: names[i],
          itemStyle: {color: styles[i].colour},
          encode: {x: 0, y: 1},
          data: cells.filter((c) => c.fastest === i).map((c) => [c.at[p.across], c.at[p.up], ratio(c) ?? 0]),
          renderItem: (_, api) => {
            const [x, y] = api.coord([api.value(0), api.value(1)]);
            const [width, height] = api.size!([1, 1]) as number[];
            const rect = {type: "rect" as const, shape: {x: x - width / 2 + 1, y: y - height / 2 + 1, width: width - 2, height: height - 2}, style: {fill: styles[i].colour, opacity: 0.55, decal: api.visual("decal")}};
            const value = api.value(2) as number;
            const text = i === base || value === 0 ? names[i] : digits(value);
            if (width < text.length * 6.5 + 4 || height < 14) return rect;
            return {...rect, textContent: {type: "text" as const, style: {text, fill: theme.text, fontSize: 11}}, textConfig: {position: "inside" as const}};
          },
        }),
      ),
    }),
    table: {
      columns: [{name: across.name}, {name: up.name}, {name: "fastest"}, {name: `${kBase} / fastest`}, ...names.map((name) => ({name: `${name} us`}))],
      rows: cells.map((c) => [across.values[c.at[p.across]], up.values[c.at[p.up]], names[c.fastest], ratio(c), ...c.times]),
    },
  };
}

/** For sweeps that vary the algorithm and two things more: the size across, and up what has most values. */
export function fastestFigures(data: SweepData): Figure[] {
  const others = data.dimensions.map((d, i) => ({d, i})).filter(({i}) => isSetting(data, i));
  if (algorithmOf(data) < 0 || others.length < 2) return [];
  const size = others.find(({d}) => d.name === "message size") ?? others[0];
  const up = others.filter(({i}) => i !== size.i).sort((a, b) => b.d.values.length - a.d.values.length)[0];
  return [figureOf(data, cellsOf(data), {across: size.i, up: up.i, held: data.dimensions.map(() => 0)})];
}
