// A result of a sweep over what was varied: the reader chooses which over which, and what the lines are.
import type {LineSeriesOption} from "echarts";
import {Dimension, SweepData, SweepRow, measureOf} from "./sweep_data";
import {Theme} from "./theme";
import {stylesOf} from "./methods";
import {widening} from "./coincide";
import {lessIsBetter} from "./readable";
import {grid, tip, valueAxis} from "./axes";
import {Choice, Figure} from "./figure";
import {digits, list} from "./format";

const kMostLines = 16;
const kMostSymbols = 150;

/** Where the values of a dimension stand on the axis: by their number or its logarithm, or one after the other. */
interface Scale {
  places: number[];
  log: boolean;
  numeric: boolean;
}
function scaleOf(d: Dimension): Scale {
  const n = d.numbers;
  if (n === null) return {places: d.values.map((_, i) => i), log: false, numeric: false};
  // By logarithm where most values are crowded at the low end.
  const sorted = [...n].sort((a, b) => a - b);
  const [low, middle, high] = [sorted[0], sorted[Math.floor(n.length / 2)], sorted[n.length - 1]];
  const log = low > 0 && high / low >= 20 && middle < (low + high) / 3;
  return {places: n.map((v) => (log ? Math.log2(v) : v)), log, numeric: true};
}

function axisOf(theme: Theme, d: Dimension, scale: Scale, narrow: boolean) {
  const most = narrow ? 4 : 10;
  // Labels are values of the sweep: all of them, or every second, or every fourth, ...
  const every = Math.max(1, Math.ceil(d.values.length / most));
  const order = scale.places.map((place, i) => ({place, i})).sort((a, b) => a.place - b.place);
  const labelled = order.filter((_, k) => k % every === 0).map((o) => o.place);
  const at = new Map(scale.places.map((place, i) => [place, d.values[i]]));
  const low = Math.min(...scale.places);
  const high = Math.max(...scale.places);
  const room = scale.numeric ? 0 : 0.3;
  const brief = (name: string) => (narrow && name.length > 12 ? `${name.slice(0, 11)}...` : name);
  return {
    ...valueAxis(theme, ""),
    min: low - room,
    max: high + room,
    name: scale.log ? `${d.name} (log)` : d.name,
    nameLocation: "middle" as const,
    nameGap: 28,
    nameTextStyle: {color: theme.soft},
    splitLine: {show: false},
    axisTick: {customValues: labelled},
    axisLabel: {color: theme.soft, hideOverlap: true, customValues: labelled, formatter: (v: number) => brief(at.get(v) ?? digits(v))},
  };
}

/** The dimension with numbers to draw over, and the one whose values are lines. */
function defaults(data: SweepData): {over: number; by: number} {
  const indices = data.dimensions.map((_, i) => i);
  const size = (i: number) => data.dimensions[i].values.length;
  const most = (of: number[]) => of.reduce((a, b) => (size(b) > size(a) ? b : a));
  const numeric = indices.filter((i) => data.dimensions[i].numbers !== null);
  const over = most(numeric.length > 0 ? numeric : indices);
  const others = indices.filter((i) => i !== over && size(i) <= kMostLines);
  const words = others.filter((i) => data.dimensions[i].numbers === null);
  return {over, by: words.length > 0 ? most(words) : others.length > 0 ? most(others) : -1};
}

interface Picked {
  measure: number;
  over: number;
  by: number; // -1: one line
  scale: number; // of kScales
  near: number; // of kNear
  held: number[]; // of every dimension; of those that are drawn it does not matter
}
const kScales = ["as it fits", "linear", "logarithmic"];
/** How near to the best is near enough. */
const kNear = [0.01, 0.02, 0.05, 0.1];

function choicesOf(data: SweepData, p: Picked): Choice[] {
  const names = data.dimensions.map((d) => d.name);
  const choices: Choice[] = [{label: "Result", options: data.measures.map((m) => m.name), chosen: p.measure}];
  choices.push({label: "axis", options: kScales, chosen: p.scale});
  choices.push({label: "near the best", options: kNear.map((share) => `${share * 100} %`), chosen: p.near, hidden: !canBeNear(data, p)});
  if (names.length < 2) return choices;
  choices.push({label: "over", options: names, chosen: p.over});
  choices.push({label: "lines", options: ["(one line)", ...names], chosen: p.by + 1});
  data.dimensions.forEach((d, i) => choices.push({label: d.name, options: d.values, chosen: p.held[i], hidden: i === p.over || i === p.by}));
  return choices;
}

function pickedFrom(data: SweepData, chosen: number[], before: Picked): Picked {
  const [measure, scale, near, over = 0, by = 0, ...held] = chosen;
  const same = {measure, scale, near, held: held.length > 0 ? held : before.held};
  // One cannot be both: what was chosen last stays.
  if (by - 1 !== over) return {...same, over, by: by - 1};
  return over !== before.over ? {...same, over, by: before.over} : {...same, over: before.by >= 0 ? before.by : data.dimensions.findIndex((_, i) => i !== by - 1), by: by - 1};
}

/** Whether the least value that is near the best is something to ask for: of numbers, where better is known. */
function canBeNear(data: SweepData, p: Picked): boolean {
  return data.dimensions[p.over].numbers !== null && lessIsBetter(data.measures[p.measure].column) !== undefined;
}

/** "smallest table within 2 % of the best: nvls 2 KiB": where more buys nothing. */
function nearBest(data: SweepData, p: Picked, lines: SweepLine[]): string {
  if (!canBeNear(data, p)) return "";
  const [less, share] = [lessIsBetter(data.measures[p.measure].column)!, kNear[p.near]];
  const over = data.dimensions[p.over];
  const found = lines.filter((line) => line.points.length > 1).map((line) => {
    const values = line.points.map((q) => q.value);
    const best = less ? Math.min(...values) : Math.max(...values);
    const first = line.points.find((q) => (less ? q.value <= best * (1 + share) : q.value >= best * (1 - share)))!;
    return `${p.by < 0 ? "" : `${line.name} `}${over.values[first.row.at[p.over]]}`;
  });
  return found.length > 0 ? `The smallest ${over.name} within ${share * 100} % of the best: ${list(found)}.` : "";
}

interface SweepLine {
  name: string;
  points: {at: number; value: number; row: SweepRow}[];
}
function linesOf(data: SweepData, p: Picked, scale: Scale): SweepLine[] {
  const measure = data.measures[p.measure].column;
  const lines: SweepLine[] = p.by < 0 ? [{name: data.measures[p.measure].name, points: []}] : data.dimensions[p.by].values.map((name) => ({name, points: []}));
  for (const row of data.rows) {
    const value = measureOf(row, measure);
    if (value === null || row.at.some((v, i) => i !== p.over && i !== p.by && v !== p.held[i])) continue;
    lines[p.by < 0 ? 0 : row.at[p.by]].points.push({at: scale.places[row.at[p.over]], value, row});
  }
  for (const line of lines) line.points.sort((a, b) => a.at - b.at);
  return lines.filter((line) => line.points.length > 0);
}

function figureOf(data: SweepData, p: Picked): Figure {
  const over = data.dimensions[p.over];
  const scale = scaleOf(over);
  const measure = data.measures[p.measure].name;
  const all = linesOf(data, p, scale);
  const lines = all.slice(0, kMostLines);
  const styles = stylesOf(lines.map((line) => line.name));
  const held = data.dimensions.flatMap((d, i) => (i === p.over || i === p.by ? [] : [`${d.name} ${d.values[p.held[i]]}`]));
  const values = lines.flatMap((line) => line.points.map((q) => q.value));
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const log = low > 0 && (p.scale === 0 ? high / low >= 30 : p.scale === 2);
  const wider = widening(lines.map((line) => line.points.map((q): [number, number] => [q.at, q.value])), log);
  const dense = lines.some((line) => line.points.length > kMostSymbols);
  const series = lines.map(
    (line, i): LineSeriesOption => ({
      type: "line",
      name: line.name,
      symbol: styles[i].symbol,
      symbolSize: 7 + wider[i],
      showSymbol: !dense,
      ...(dense ? {sampling: "minmax" as const} : {}),
      itemStyle: {color: styles[i].colour},
      lineStyle: {color: styles[i].colour, width: 2 + wider[i], type: styles[i].dash},
      data: line.points.map((q) => [q.at, q.value]),
    }),
  );
  const zoom = over.values.length > 8;
  const said = [nearBest(data, p, lines), held.length > 0 ? `At ${held.join(", ")}.` : "", all.length > lines.length ? `The first ${kMostLines} of ${all.length} lines; the values have all.` : "", scale.numeric ? "" : "The order is that of the sweep."];
  return {
    id: "sweep",
    title: `${measure} over ${over.name}${p.by >= 0 ? `, by ${data.dimensions[p.by].name}` : ""}`,
    caption: said.filter((s) => s !== "").join(" "),
    description: values.length === 0 ? "There is no value to draw." : `${lines.length} lines of ${over.values.length} values, from ${digits(low)} to ${digits(high)}`,
    height: 400,
    zoom,
    legend: lines.map((line, i) => ({name: line.name, colour: styles[i].colour, symbol: styles[i].symbol})),
    choices: choicesOf(data, p),
    choose: (chosen) => figureOf(data, pickedFrom(data, chosen, p)),
    option: (theme, narrow) => ({
      grid: grid(narrow),
      xAxis: axisOf(theme, over, scale, narrow),
      yAxis: log
        ? {...valueAxis(theme, `${measure} (log)`), type: "log", axisLabel: {color: theme.soft, formatter: (v: number) => digits(v)}}
        : valueAxis(theme, measure, {scale: low > 0 && (high - low) / high < 0.2, axisLabel: {color: theme.soft}}),
      dataZoom: zoom ? [{type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false}] : [],
      tooltip: {
        trigger: "axis",
        formatter: (params) => {
          const points = Array.isArray(params) ? params : [params];
          const at = (points[0]?.value as number[] | undefined)?.[0];
          const i = scale.places.findIndex((place) => place === at);
          const here = lines.flatMap((line, k): [string, string][] => line.points.filter((q) => q.at === at).map((q) => [styles[k].colour, p.by < 0 ? digits(q.value) : `${line.name}: ${digits(q.value)}`]));
          return tip(`${over.name} ${over.values[i] ?? ""}`, here);
        },
      },
      series,
    }),
    table: {
      columns: [...data.dimensions.map((d) => ({name: d.name})), {name: measure}],
      rows: all.flatMap((line) => line.points.map((q) => [...data.dimensions.map((d, i) => d.values[q.row.at[i]]), q.value])),
    },
  };
}

export function sweepFigure(data: SweepData): Figure {
  return figureOf(data, {measure: 0, ...defaults(data), scale: 0, near: 1, held: data.dimensions.map(() => 0)});
}
