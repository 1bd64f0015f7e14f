// Bars side by side: a group for each case, a bar for each method.
import type {BarSeriesOption} from "echarts";
import {Figure} from "./figure";
import {colour} from "./theme";
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
  /** What is drawn without bars need not begin at 0. */
  anywhere?: boolean;
  /** A bar's colour is its series' place here, so that a method has one colour on the page. */
  colours: string[];
}

export function barFigure(b: Bars): Figure {
  const colourOf = (name: string) => colour(Math.max(0, b.colours.indexOf(name)));
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
      grid: {...grid(narrow), top: 8, right: 64},
      xAxis: {...valueAxis(theme, b.unit), nameLocation: "middle", nameGap: 26, nameTextStyle: {color: theme.soft}, axisLabel: {show: b.axis !== undefined, color: theme.soft, hideOverlap: true, formatter: (v: number) => b.axis?.(v) ?? ""}},
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
        (s): BarSeriesOption => ({
          type: "bar",
          name: s.name,
          barMaxWidth: 20,
          barGap: "12%",
          itemStyle: {color: colourOf(s.name)},
          data: s.values,
          label: {show: true, position: "right", color: theme.text, fontSize: 11, formatter: (p) => (typeof p.value === "number" ? b.show(p.value) : "")},
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
