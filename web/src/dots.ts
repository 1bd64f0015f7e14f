// The same values as bars would show, as dots in a row per case: for comparisons where not every method ran in every case, and
// bars would leave holes.
import type {ScatterSeriesOption} from "echarts";
import {Bars, barFigure, referenceLine} from "./bars";
import {Figure} from "./figure";
import {stylesOf} from "./methods";
import {grid, namesAxis, tip, valueAxis} from "./axes";

const kSymbol = 12;
const kRow = 46;

/**
 * How far each dot of a row is moved up or down, so that none hides another: dots that are closer than `least` are put on lanes
 * next to each other.
 */
export function lanes(values: (number | null)[], least: number): number[] {
  const order = values.flatMap((v, i) => (v === null ? [] : [{v, i}])).sort((a, b) => a.v - b.v);
  const offsets = values.map(() => 0);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && order[to].v - order[to - 1].v < least) ++to;
    for (let k = from; k < to; ++k) offsets[order[k].i] = k - from - (to - from - 1) / 2;
    from = to;
  }
  return offsets;
}

export function dotFigure(b: Bars): Figure {
  const styles = stylesOf(b.series.map((s) => s.name));
  const known = b.series.flatMap((s) => s.values).filter((v): v is number => v !== null);
  const low = Math.min(b.anywhere === true ? Infinity : 0, ...known);
  const high = Math.max(...known);
  return {
    ...barFigure(b),
    height: 70 + kRow * b.groups.length,
    legend: b.series.map((s, i) => ({name: s.name, colour: styles[i].colour, symbol: styles[i].symbol})),
    option: (theme, narrow) => {
      // A dot takes about this share of the axis.
      const least = (high - low) * (narrow ? 0.045 : 0.016);
      const moved = b.groups.map((_, i) => lanes(b.series.map((s) => s.values[i]), least));
      return {
        grid: {...grid(narrow), top: 20},
        xAxis: {...valueAxis(theme, b.unit), scale: b.anywhere === true, nameLocation: "middle", nameGap: 26, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true, formatter: (v: number) => (b.axis ?? b.show)(v)}},
        yAxis: {...namesAxis(theme, b.groups, narrow), inverse: true, splitLine: {show: true, lineStyle: {color: theme.grid}}},
        tooltip: {
          trigger: "item",
          formatter: (p) => {
            const at = (Array.isArray(p) ? p[0] : p).value as [number, number];
            return tip(b.groups[at[1]], b.series.flatMap((s, k): [string, string][] => (s.values[at[1]] === null ? [] : [[styles[k].colour, `${s.name}: ${b.show(s.values[at[1]]!)}`]])));
          },
        },
        series: b.series.map(
          (s, k): ScatterSeriesOption => ({
            type: "scatter",
            name: s.name,
            symbol: styles[k].symbol,
            symbolSize: kSymbol,
            itemStyle: {color: styles[k].colour, opacity: 1},
            data: s.values.flatMap((v, i) => (v === null ? [] : [{value: [v, i], symbolOffset: [0, moved[i][k] * (kSymbol - 1)]}])),
            ...(k === 0 ? referenceLine(b, theme) : {}),
          }),
        ),
      };
    },
  };
}

/** Bars where every series has a value in every group, otherwise dots. */
export const valuesFigure = (b: Bars): Figure => (b.series.every((s) => s.values.every((v) => v !== null)) ? barFigure(b) : dotFigure(b));
