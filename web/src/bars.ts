// Bars side by side: a group for each case, a bar for each method.
import type {BarSeriesOption} from "echarts";
import {Figure} from "./figure";
import {stylesOf} from "./methods";
import {Theme, colour} from "./theme";
import {grid, namesAxis, tip, valueAxis} from "./axes";

export interface Bars {
  id: string;
  title: string;
  caption: string;
  groups: string[];
  series: {name: string; values: (number | null)[]}[];
  show: (value: number) => string;
  unit: string;
  /** How the axis shows a value; without it, only the bars do. */
  axis?: (value: number) => string;
  /** Values are bytes: the axis has round numbers of a power of two. */
  binary?: boolean;
  /** What is drawn without bars need not begin at 0. */
  anywhere?: boolean;
  /** A bar's colour is its series' place here. Without it, series are algorithms, which have colours of their own. */
  colours?: string[];
  /** The groups are algorithms, and bars have their colours. */
  byGroup?: boolean;
  /** A value to compare with, as a line. */
  reference?: {value: number; name: string};
}

/** The line of a reference, for the first series of a chart. */
export function referenceLine(b: Bars, theme: Theme) {
  if (b.reference === undefined) return {};
  return {
    markLine: {
      silent: true,
      z: 1, // behind bars, so that it does not strike their labels through
      symbol: "none",
      lineStyle: {color: theme.soft, type: "dashed" as const, width: 1.5},
      label: {show: b.reference.name !== "", position: "start" as const, distance: 4, rotate: 0, formatter: b.reference.name, color: theme.soft},
      data: [{xAxis: b.reference.value}],
    },
  };
}

/** An axis of bytes: four to eight steps of a power of two, and where it ends. */
export function binarySteps(furthest: number, narrow: boolean): {interval: number; max: number} {
  const interval = 2 ** Math.floor(Math.log2(Math.max(furthest, 8) / (narrow ? 2 : 4)));
  return {interval, max: Math.ceil((furthest * 1.02) / interval) * interval};
}

/** Where the axis ends: beyond the reference, at a round number; for bytes after four to eight steps of a power of two. */
function extent(b: Bars, narrow: boolean): {interval?: number; max?: number; splitNumber?: number} {
  const highest = Math.max(...b.series.flatMap((s) => s.values.map((v) => v ?? 0)));
  const furthest = Math.max(b.reference?.value ?? 0, highest);
  if (b.binary === true) return binarySteps(furthest, narrow);
  const splits = narrow ? 3 : 5;
  if (furthest === highest) return {splitNumber: splits};
  const rough = furthest / splits;
  const power = 10 ** Math.floor(Math.log10(rough));
  const interval = power * [1, 2, 5, 10].find((n) => power * n >= rough)!;
  return {interval, max: Math.ceil(furthest / interval - 1e-9) * interval};
}

export function barFigure(b: Bars): Figure {
  const styles = stylesOf(b.series.map((s) => s.name));
  const colourOf = (name: string) => (b.colours !== undefined ? colour(Math.max(0, b.colours.indexOf(name))) : styles[b.series.findIndex((s) => s.name === name)].colour);
  const groupColours = b.byGroup === true ? stylesOf(b.groups).map((style) => style.colour) : undefined;
  return {
    id: b.id,
    title: b.title,
    caption: b.caption,
    description: b.groups
      .map((group, i) => `${group}: ${b.series.map((s) => `${s.name} ${s.values[i] === null ? "not there" : b.show(s.values[i]!)}`).join(", ")}`)
      .join("; "),
    height: 60 + b.groups.length * (18 + 22 * b.series.length),
    zoom: false,
    legend: b.series.map((s) => ({name: s.name, colour: colourOf(s.name), symbol: "rect"})),
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: b.reference?.name ? 22 : 8, right: 64},
      xAxis: {...valueAxis(theme, b.unit), ...extent(b, narrow), nameLocation: "middle", nameGap: 26, nameTextStyle: {color: theme.soft}, axisLabel: {show: b.axis !== undefined, color: theme.soft, hideOverlap: true, formatter: (v: number) => b.axis?.(v) ?? ""}},
      yAxis: {...namesAxis(theme, b.groups, narrow), inverse: true},
      tooltip: {
        trigger: "axis",
        axisPointer: {type: "shadow"},
        formatter: (params) => {
          const i = (Array.isArray(params) ? params[0] : params)?.dataIndex ?? 0;
          return tip(b.groups[i], b.series.map((s): [string, string] => [colourOf(s.name), `${s.name}: ${s.values[i] === null ? "-" : b.show(s.values[i]!)}`]));
        },
      },
      series: b.series.map(
        (s, k): BarSeriesOption => ({
          type: "bar",
          name: s.name,
          barMaxWidth: 20,
          barGap: "12%",
          itemStyle: {color: colourOf(s.name)},
          data: groupColours === undefined ? s.values : s.values.map((value, i) => ({value: value ?? "-", itemStyle: {color: groupColours[i]}})),
          ...(k === 0 ? referenceLine(b, theme) : {}),
          label: {show: true, position: "right", color: theme.text, fontSize: 11, textBorderColor: theme.card, textBorderWidth: 2, formatter: (p) => (typeof p.value === "number" ? b.show(p.value) : "")},
          labelLayout: {hideOverlap: true},
        }),
      ),
    }),
    table: {
      columns: [{name: ""}, ...b.series.map((s) => ({name: s.name, show: b.show}))],
      rows: b.groups.map((group, i) => [group, ...b.series.map((s) => s.values[i])]),
    },
  };
}
