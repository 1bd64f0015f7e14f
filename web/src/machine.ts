// The machine that was simulated: GPUs, switches, and how busy the links between them were.
import type {LinesSeriesOption, ScatterSeriesOption} from "echarts";
import {Machine} from "./payload";
import {Theme} from "./theme";
import {percent, size} from "./format";
import {tip} from "./axes";
import {Figure} from "./figure";

interface Point {
  name: string;
  gpu: boolean;
  /** Of a GPU: it took part. */
  used: boolean;
  x: number;
  y: number;
}
/** All cables between two chips, both ways. */
interface Pair {
  a: number;
  b: number;
  cables: number;
  there: Way;
  back: Way;
}
interface Way {
  mean: number;
  busiest: number;
}

const kGpuColour = "#0072B2";
const kSwitchColour = "#009E73";
const kIdleColour = "#7F7F7F";
/** Hot links stand out by their width as well as by their colour. */
const kHeat = [
  {below: 0.25, name: "under 25 %", colour: "#7F7F7F", width: 1},
  {below: 0.5, name: "25 to 50 %", colour: "#56B4E9", width: 1.5},
  {below: 0.75, name: "50 to 75 %", colour: "#E69F00", width: 2.5},
  {below: Infinity, name: "over 75 %", colour: "#D55E00", width: 3.5},
];

/** From so many on, lines are drawn thin enough to see through. */
const kCrowd = 200;

const heat = (pair: Pair) => Math.max(pair.there.busiest, pair.back.busiest);

function pairsOf(machine: Machine): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const [from, to, cables, mean, busiest] of machine.links) {
    const key = `${Math.min(from, to)} ${Math.max(from, to)}`;
    const known = pairs.get(key);
    if (known === undefined) pairs.set(key, {a: from, b: to, cables, there: {mean, busiest}, back: {mean: 0, busiest: 0}});
    else known.back = {mean, busiest};
  }
  return [...pairs.values()];
}

/** How many links a chip is away from the next GPU: switches stand in rows above the GPUs. */
function levelsOf(machine: Machine, pairs: Pair[]): number[] {
  const level = Array.from({length: machine.nodes}, (_, n) => (n < machine.gpus ? 0 : Infinity));
  for (let changed = true; changed; ) {
    changed = false;
    for (const {a, b} of pairs)
      for (const [from, to] of [[a, b], [b, a]])
        if (level[to] > level[from] + 1) {
          level[to] = level[from] + 1;
          changed = true;
        }
  }
  return level.map((l) => (l === Infinity ? 1 : l));
}

/** Rows where there are switches, otherwise a circle. */
function pointsOf(machine: Machine, pairs: Pair[], used: number): {points: Point[]; rows: number} {
  const level = levelsOf(machine, pairs);
  const rows = Math.max(...level) + 1;
  const name = (n: number) => (n < machine.gpus ? `gpu${n}` : `switch${n - machine.gpus}`);
  const seen = new Array<number>(rows).fill(0);
  const total = Array.from({length: rows}, (_, row) => level.filter((l) => l === row).length);
  const points = level.map((l, n): Point => {
    const i = seen[l]++;
    if (rows > 1) return {name: name(n), gpu: n < machine.gpus, used: n < used, x: (i + 0.5) / total[l], y: l};
    const angle = (2 * Math.PI * i) / machine.nodes;
    return {name: name(n), gpu: true, used: n < used, x: 0.5 + 0.5 * Math.sin(angle), y: Math.cos(angle)};
  });
  return {points, rows};
}

function chips(points: Point[], name: "GPU" | "switch" | "GPU without work", narrow: boolean, theme: Theme): ScatterSeriesOption {
  const gpu = name !== "switch";
  const mine = points.filter((p) => p.gpu === gpu && (!gpu || p.used === (name === "GPU")));
  const across = Math.max(8, Math.min(narrow ? 22 : 34, (narrow ? 300 : 900) / mine.length));
  return {
    type: "scatter",
    name,
    z: 3,
    symbol: gpu ? "circle" : "rect",
    symbolSize: across,
    itemStyle: {color: {GPU: kGpuColour, switch: kSwitchColour, "GPU without work": kIdleColour}[name], borderColor: theme.card, borderWidth: 1, opacity: 1},
    label: {show: across >= 18, color: "#ffffff", fontSize: 11, formatter: (p) => mine[p.dataIndex].name.replace(/\D+/, "")},
    tooltip: {formatter: (p) => tip(mine[(p as {dataIndex: number}).dataIndex].name, [])},
    data: mine.map((p) => [p.x, p.y]),
  };
}

function links(pairs: Pair[], points: Point[]): LinesSeriesOption[] {
  return kHeat.map((class_, i) => {
    const mine = pairs.filter((p) => heat(p) < class_.below && heat(p) >= (kHeat[i - 1]?.below ?? -1));
    const way = (from: number, to: number, use: Way) => `${points[from].name} to ${points[to].name}: ${percent(use.mean)}, busiest ${percent(use.busiest)}`;
    return {
      type: "lines",
      name: class_.name,
      coordinateSystem: "cartesian2d",
      z: 2,
      lineStyle: {color: class_.colour, width: pairs.length > kCrowd ? class_.width / 4 : class_.width, opacity: pairs.length > kCrowd ? 0.5 : 0.9, curveness: 0},
      tooltip: {
        formatter: (p: unknown) => {
          const pair = mine[(p as {dataIndex: number}).dataIndex];
          return tip(`${pair.cables} ${pair.cables === 1 ? "cable" : "cables"}`, [
            [class_.colour, way(pair.a, pair.b, pair.there)],
            [class_.colour, way(pair.b, pair.a, pair.back)],
          ]);
        },
      },
      data: mine.map(({a, b}) => ({coords: [[points[a].x, points[a].y], [points[b].x, points[b].y]]})),
    };
  });
}

/** `used`: the first GPUs, which took part; undefined where all did, or nobody says. */
export function machineFigure(machine: Machine, id: string, used = machine.gpus): Figure {
  const pairs = pairsOf(machine);
  const {points, rows} = pointsOf(machine, pairs, used);
  const idle = machine.gpus - used;
  const switches = machine.nodes - machine.gpus;
  const hottest = pairs.reduce((most, p) => Math.max(most, heat(p)), 0);
  const shown = kHeat.filter((h, i) => pairs.some((p) => heat(p) < h.below && heat(p) >= (kHeat[i - 1]?.below ?? -1)));
  const hidden = {type: "value" as const, show: false};
  return {
    id,
    title: `The machine under ${machine.label}${machine.bytes > 0 ? `, ${size(machine.bytes)}` : ""}`,
    caption: `${machine.gpus} GPUs${idle > 0 ? ` (the first ${used} take part)` : ""}${switches > 0 ? ` and ${switches} ${switches === 1 ? "switch" : "switches"}` : ""}. A line joins two chips, however many cables do; it shows the share of the time in which the busiest of them, in its busier direction, had something on it, headers counted.`,
    description: `The busiest link is used ${percent(hottest)} of the time.`,
    height: rows > 1 ? 90 + 110 * rows : 420,
    zoom: false,
    legend: [
      {name: "GPU", colour: kGpuColour, symbol: "circle"},
      ...(idle > 0 ? [{name: "GPU without work", colour: kIdleColour, symbol: "circle"}] : []),
      ...(switches > 0 ? [{name: "switch", colour: kSwitchColour, symbol: "rect"}] : []),
      ...shown.map((h) => ({name: h.name, colour: h.colour, symbol: "rect"})),
    ],
    option: (theme, narrow) => ({
      grid: {left: rows > 1 ? 4 : "22%", right: rows > 1 ? 4 : "22%", top: 24, bottom: 24},
      xAxis: {...hidden, min: 0, max: 1},
      yAxis: {...hidden, min: rows > 1 ? 0 : -1, max: rows > 1 ? rows - 1 : 1},
      tooltip: {trigger: "item"},
      series: [...links(pairs, points), chips(points, "GPU", narrow, theme), ...(idle > 0 ? [chips(points, "GPU without work", narrow, theme)] : []), ...(switches > 0 ? [chips(points, "switch", narrow, theme)] : [])],
    }),
    table: {
      columns: [{name: "from"}, {name: "to"}, {name: "cables"}, {name: "mean use", show: percent}, {name: "busiest", show: percent}],
      rows: machine.links.map(([from, to, cables, mean, busiest]) => [points[from].name, points[to].name, cables, mean, busiest]),
    },
  };
}

const kMostMachines = 4;
export const machineFigures = (machines: Machine[], used?: number): Figure[] =>
  machines.slice(0, kMostMachines).map((m, i) => machineFigure(m, `machine-${i}`, used !== undefined && used > 0 ? Math.min(used, m.gpus) : m.gpus));
