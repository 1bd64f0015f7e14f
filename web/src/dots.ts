// The same values as bars would show, as dots in a row a case: for comparisons where not every method ran in every case, and
// bars would leave holes.
import type {ScatterSeriesOption} from "echarts";
import {Bars, barFigure} from "./bars";
import {Figure} from "./figure";
import {colour, symbol} from "./theme";
import {grid, namesAxis, tip, valueAxis} from "./axes";

export function dotFigure(b: Bars): Figure {
  const number = (name: string) => Math.max(0, b.colours.indexOf(name));
  const line = (name: string, value: number): [string, string] => [colour(number(name)), `${name}: ${b.show(value)}`];
  return {
    ...barFigure(b),
    height: 70 + 34 * b.groups.length,
    legend: b.series.map((s) => ({name: s.name, colour: colour(number(s.name)), symbol: symbol(number(s.name))})),
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: 8},
      xAxis: {...valueAxis(theme, b.unit), scale: b.anywhere === true, nameLocation: "middle", nameGap: 26, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true, formatter: (v: number) => (b.axis ?? b.show)(v)}},
      yAxis: {...namesAxis(theme, b.groups, narrow), inverse: true, splitLine: {show: true, lineStyle: {color: theme.grid}}},
      tooltip: {
        trigger: "item",
        formatter: (p) => {
          const at = (Array.isArray(p) ? p[0] : p).value as [number, number];
          return tip(b.groups[at[1]], b.series.flatMap((s) => (s.values[at[1]] === null ? [] : [line(s.name, s.values[at[1]]!)])));
        },
      },
      series: b.series.map(
        (s): ScatterSeriesOption => ({
          type: "scatter",
          name: s.name,
          symbol: symbol(number(s.name)),
          symbolSize: 12,
          itemStyle: {color: colour(number(s.name)), opacity: 1},
          data: s.values.flatMap((v, i) => (v === null ? [] : [[v, i]])),
        }),
      ),
    }),
  };
}

/** Bars where every series has a value in every group, otherwise dots. */
export const valuesFigure = (b: Bars): Figure => (b.series.every((s) => s.values.every((v) => v !== null)) ? barFigure(b) : dotFigure(b));
