// The page of `infold bench`: bandwidth and time by size, and where an algorithm beats ring.
import type {LineSeriesOption, ScatterSeriesOption} from "echarts";
import {widening} from "./coincide";
import {Bench, BenchResult, Published} from "./payload";
import {Line, lines} from "./bench_series";
import {Theme} from "./theme";
import {stylesOf} from "./methods";
import {digits, list, microseconds, percent, plain, size} from "./format";
import {grid, namesAxis, place, sizeAxis, tip, valueAxis} from "./axes";
import {Figure} from "./figure";
import {View} from "./view";
import {Window, windowFigure} from "./size_window";

interface Quantity {
  id: string;
  title: string;
  unit: string;
  of: (row: BenchResult) => number;
  show: (value: number) => string;
  log: boolean;
  caption: string;
}

const kBandwidth: Quantity = {
  id: "busbw",
  title: "Bus bandwidth",
  unit: "GB/s",
  of: (row) => row.busbw_gbps,
  show: (v) => `${digits(v)} GB/s`,
  log: false,
  caption:
    "As nccl-tests counts it: the rate at which a GPU would have to send in a ring to be as fast, so that numbers of GPUs compare.",
};
const kTime: Quantity = {
  id: "time",
  title: "Time",
  unit: "us",
  of: (row) => row.time_us,
  show: microseconds,
  log: true,
  caption: "From the start of the collective to its end on the last GPU.",
};

const barTable = (all: Line[]) => ({
  columns: [
    {name: "series"},
    {name: "system"},
    {name: "algo"},
    {name: "proto"},
    {name: "engine"},
    {name: "bytes", show: size},
    {name: "time us"},
    {name: "algbw GB/s"},
    {name: "busbw GB/s"},
    {name: "SMs"},
    {name: "wrong"},
  ],
  rows: all.flatMap((line) =>
    line.rows.map((r) => [line.name, r.system, r.algo, r.proto, r.engine, r.bytes, r.time_us, r.algbw_gbps, r.busbw_gbps, r.sms, r.wrong]),
  ),
});

/** What the links allow at the largest size, with the lines that this holds for: in-network algorithms send less per byte. */
interface Limit {
  value: number;
  name: string;
}
const kMostLimits = 3;
function limits(all: Line[]): Limit[] {
  const found = new Map<number, string[]>();
  for (const line of all) {
    const value = line.rows[line.rows.length - 1].busbw_bound_gbps;
    if (value > 0) found.set(value, [...(found.get(value) ?? []), line.name]);
  }
  const several = found.size > 1;
  const highestFirst = [...found].sort(([a], [b]) => b - a);
  return highestFirst.slice(0, kMostLimits).map(([value, names]) => ({value, name: `links carry ${digits(value)} GB/s${several ? ` (${names.length > 3 ? `${names.length} lines` : list(names)})` : ""}`}));
}

/** Published times of a line's system and algorithm, as this quantity. */
interface Point {
  line: number;
  bytes: number;
  value: number;
  source: string;
}
function pointsOf(all: Line[], q: Quantity, published: Published[]): Point[] {
  return all.flatMap((line, i) => {
    const low = line.rows[0].bytes;
    const high = line.rows[line.rows.length - 1].bytes;
    const bus = line.rows[0].busbw_gbps / line.rows[0].algbw_gbps; // the same for all sizes
    return published
      .filter((p) => p.system === line.system && p.algo === line.algo && p.bytes >= low && p.bytes <= high)
      .map((p) => ({line: i, bytes: p.bytes, value: q === kTime ? p.time_us : (p.bytes / p.time_us / 1e3) * bus, source: p.source}));
  });
}
const kPublished = "published";
/** Beyond this, a linear axis shows the largest values only. */
const kWide = 50;

const kScales = ["linear", "logarithmic"];

function curve(all: Line[], q: Quantity, published: Published[], chosen?: number): Figure {
  const points = pointsOf(all, q, published);
  const styles = stylesOf(all.map((line) => line.name));
  const measured = (theme: Theme): ScatterSeriesOption[] =>
    points.length === 0
      ? []
      : [
          {
            type: "scatter",
            name: kPublished,
            z: 4,
            symbolSize: 11,
            tooltip: {
              trigger: "item",
              formatter: (p) => {
                const point = points[(p as {dataIndex: number}).dataIndex];
                return tip(`${all[point.line].name}, ${size(point.bytes)}, published`, [[null, q.show(point.value)], [null, point.source]]);
              },
            },
            data: points.map((p) => ({value: [place(p.bytes), p.value], symbol: "diamond", itemStyle: {color: theme.card, borderColor: styles[p.line].colour, borderWidth: 2.5}})),
          },
        ];
  const sizes = [...new Set(all.flatMap((line) => line.rows.map((row) => row.bytes)))].sort((a, b) => a - b);
  const allowed = q === kBandwidth ? limits(all) : [];
  const highest = Math.max(0, ...allowed.map((limit) => limit.value));
  const values = all.flatMap((line) => line.rows.map(q.of));
  const range = Math.max(...values) / Math.min(...values);
  // From zero, small messages are one flat line.
  const log = chosen === undefined ? q.log || range > kWide : chosen === 1;
  const wider = widening(all.map((line) => line.rows.map((row): [number, number] => [row.bytes, q.of(row)])), log);
  const series = (): LineSeriesOption[] =>
    all.map((line, i) => ({
      type: "line",
      name: line.name,
      symbol: styles[i].symbol,
      symbolSize: 7 + wider[i],
      itemStyle: {color: styles[i].colour},
      lineStyle: {color: styles[i].colour, width: 2 + wider[i], type: styles[i].dash},
      data: line.rows.map((row) => [place(row.bytes), q.of(row)]),
    }));
  const allowedLines = (theme: Theme): LineSeriesOption[] => [
    {
      // A line of its own, so that hiding an algorithm does not hide it.
      type: "line",
      name: "what links carry",
      data: [],
      markLine: {
        silent: true,
        symbol: "none",
        lineStyle: {color: theme.soft, type: "dashed"},
        // Limits may be close: the name of the lowest is below its line.
        data: allowed.map((limit, i) => ({yAxis: limit.value, label: {position: i > 0 && i === allowed.length - 1 ? "insideStartBottom" : i === 0 ? "insideStartTop" : "insideEndTop", formatter: limit.name, color: theme.soft}})),
      },
    },
  ];
  return {
    id: q.id,
    title: `${q.title} by message size`,
    caption: points.length > 0 ? `${q.caption} Diamonds are published measurements of the same.` : q.caption,
    description: all
      .map((line) => {
        const last = line.rows[line.rows.length - 1];
        return `${line.name}: ${q.show(q.of(last))} at ${size(last.bytes)}`;
      })
      .join("; "),
    height: 380,
    zoom: sizes.length > 6,
    legend: [
      ...all.map((line, i) => ({name: line.name, colour: styles[i].colour, symbol: styles[i].symbol})),
      ...(points.length > 0 ? [{name: kPublished, colour: styles[points[0].line].colour, symbol: "emptyDiamond"}] : []),
    ],
    choices: [{label: "Axis", options: kScales, chosen: log ? 1 : 0}],
    choose: ([scale]) => curve(all, q, published, scale),
    option: (theme, narrow) => ({
      grid: grid(narrow),
      xAxis: sizeAxis(theme, sizes, narrow),
      yAxis: log
        ? {...valueAxis(theme, ""), type: "log", logBase: range < 32 ? 2 : 10, max: highest > 0 ? (shown: {max: number}) => Math.max(shown.max, highest * 1.5) : undefined, axisLabel: {color: theme.soft, showMaxLabel: highest === 0, formatter: (v: number) => q.show(v)}}
        : valueAxis(theme, q.unit, highest > 0 ? {max: (shown: {max: number}) => Math.max(shown.max, highest * 1.05), axisLabel: {color: theme.soft, showMaxLabel: false}} : {}),
      dataZoom: sizes.length > 6 ? [{type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false}] : [],
      tooltip: {
        trigger: "axis",
        formatter: (params) => {
          const points = Array.isArray(params) ? params : [params];
          const at = (points[0]?.value as number[] | undefined)?.[0] ?? 0;
          const here = all.flatMap((line, i) =>
            line.rows
              .filter((row) => place(row.bytes) === at)
              .map((row): [string, string] => [styles[i].colour, `${line.name}: ${q.show(q.of(row))}${row.auto ? ` (${row.algo}, ${row.proto})` : ""}`]),
          );
          return tip(size(Math.round(2 ** at)), here);
        },
      },
      series: [...series(), ...(allowed.length > 0 ? allowedLines(theme) : []), ...measured(theme)],
    }),
    table: barTable(all),
  };
}

/** With a single size there is no curve to draw. */
function bars(all: Line[], q: Quantity): Figure {
  const names = all.map((line) => line.name);
  const styles = stylesOf(names);
  return {
    id: q.id,
    title: `${q.title} at ${size(all[0].rows[0].bytes)}`,
    caption: q.caption,
    description: all.map((line) => `${line.name}: ${q.show(q.of(line.rows[0]))}`).join("; "),
    height: 70 + 44 * all.length,
    zoom: false,
    legend: [],
    option: (theme, narrow) => ({
      grid: {...grid(narrow), right: 80, bottom: 4},
      xAxis: valueAxis(theme, "", {axisLabel: {color: theme.soft, hideOverlap: true}}),
      yAxis: {...namesAxis(theme, names, narrow), inverse: true},
      tooltip: {trigger: "item", formatter: (p) => tip(names[(p as {dataIndex: number}).dataIndex], [[null, q.show(q.of(all[(p as {dataIndex: number}).dataIndex].rows[0]))]])},
      series: [
        {
          type: "bar",
          barMaxWidth: 28,
          data: all.map((line, i) => ({value: q.of(line.rows[0]), itemStyle: {color: styles[i].colour}})),
          label: {show: true, position: "right", color: theme.text, formatter: (p) => q.show(p.value as number)},
        },
      ],
    }),
    table: barTable(all),
  };
}

/** Each system's algorithms against its ring, where it has both. */
function windows(all: Line[]): Figure[] {
  const systems = [...new Set(all.map((line) => line.system))];
  return systems.flatMap((system, i) => {
    const here = all.filter((line) => line.system === system);
    const ring = here.find((line) => line.algo === "ring");
    if (ring === undefined || here.length < 2) return [];
    const sizes = ring.rows.map((row) => row.bytes).filter((bytes) => here.every((line) => line.rows.some((row) => row.bytes === bytes)));
    if (sizes.length < 2) return [];
    const timed = (line: Line) => ({name: line.name, time_us: sizes.map((bytes) => line.rows.find((row) => row.bytes === bytes)!.time_us)});
    const window: Window = {id: `window-${i}`, where: `on ${system}`, sizes, methods: [ring, ...here.filter((line) => line !== ring)].map(timed)};
    return [windowFigure(window)];
  });
}

function answer(result: Bench, all: Line[]): string {
  const last = (line: Line) => line.rows[line.rows.length - 1];
  const best = all.reduce((a, b) => (last(b).busbw_gbps > last(a).busbw_gbps ? b : a));
  const row = last(best);
  const share = row.busbw_bound_gbps > 0 ? `, ${percent(row.busbw_gbps / row.busbw_bound_gbps)} of what its links allow` : "";
  const at = `at ${size(row.bytes)}`;
  const reaches = `${plain(result.collective)} over ${row.gpus} GPUs of ${row.system} takes ${microseconds(row.time_us)} ${at}: ${digits(row.busbw_gbps)} GB/s of bus bandwidth${share}`;
  if (all.length === 1) return `${best.algo === "auto" ? "The best choice's" : best.algo} ${reaches}.`;
  const others = all.filter((line) => line !== best).map((line) => `${line.name} ${digits(last(line).busbw_gbps)}`);
  const compared = others.length > 4 ? `${others.length} others less` : list(others);
  return `${best.name} is fastest ${at}: ${digits(row.busbw_gbps)} GB/s of bus bandwidth${share}, against ${compared}${others.length > 4 ? "" : " GB/s"}.`;
}

export function benchView(result: Bench, published: Published[]): View {
  const all = lines(result.results);
  const title = `${plain(result.collective)} on ${result.system.replaceAll(",", ", ")}`;
  const wrong = result.results.reduce((sum, row) => sum + (row.wrong ?? 0), 0);
  const checked = result.results.some((row) => row.wrong !== null);
  const facts: [string, string][] = [
    ["collective", plain(result.collective)],
    ["system", result.system.replaceAll(",", ", ")],
    ["GPUs", [...new Set(result.results.map((row) => row.gpus))].join(", ")],
    ["type, reduction", `${result.dtype}, ${result.op}`],
    ["values checked", checked ? (wrong > 0 ? `${wrong} are wrong` : "all right") : "no (--check does)"],
  ];
  if (all.length === 0) return {title, answer: `${plain(result.collective)} took ${microseconds(result.results[0]?.time_us ?? 0)}; it has no size to draw by.`, warnings: [], figures: [], facts};
  const single = all.every((line) => line.rows.length === 1);
  const make = (lines: Line[], q: Quantity) => (single ? bars(lines, q) : curve(lines, q, published));
  return {
    title,
    answer: answer(result, all),
    warnings: wrong > 0 ? [`${wrong} values are wrong.`] : [],
    figures: [make(all, kBandwidth), make(all, kTime), ...(single ? [] : windows(all))],
    facts,
  };
}
