// Horizontal bars of parts that add up: the phases of a step, what compute did.
import type {BarSeriesOption} from "echarts";
import {milliseconds} from "./format";
import {grid, namesAxis, tip, valueAxis} from "./axes";
import {Cell, Column} from "./table";
import {Figure} from "./figure";

export interface Stack {
  id: string;
  title: string;
  caption: string;
  /** What the first column of the table is called. */
  of: string;
  parts: {name: string; colour: string}[];
  /** By bar: milliseconds of each part, and what the whole is. */
  bars: {name: string; ms: number[]; whole: number}[];
  /** What the table has behind the whole. */
  more?: {columns: Column[]; cells: Cell[][]};
}

export function stackedFigure(s: Stack): Figure {
  return {
    id: s.id,
    title: s.title,
    caption: s.caption,
    description: s.bars.map((bar) => `${bar.name}: ${s.parts.map((part, k) => `${part.name} ${milliseconds(bar.ms[k])}`).join(", ")}`).join("; "),
    height: 64 + 38 * Math.max(s.bars.length, 2),
    zoom: false,
    legend: s.parts.map((part) => ({...part, symbol: "rect"})),
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: 8},
      xAxis: {...valueAxis(theme, "ms"), splitNumber: narrow ? 3 : 5, nameLocation: "middle", nameGap: 26, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true}},
      yAxis: {...namesAxis(theme, s.bars.map((bar) => bar.name), narrow), inverse: true},
      tooltip: {
        trigger: "axis",
        axisPointer: {type: "shadow"},
        formatter: (params) => {
          const i = (Array.isArray(params) ? params[0] : params)?.dataIndex ?? 0;
          return tip(s.bars[i].name, [
            ...s.parts.map((part, k): [string, string] => [part.colour, `${part.name}: ${milliseconds(s.bars[i].ms[k])}`]),
            [null, `step: ${milliseconds(s.bars[i].whole)}`],
          ]);
        },
      },
      series: s.parts.map(
        (part, k): BarSeriesOption => ({
          type: "bar",
          name: part.name,
          stack: "step",
          barMaxWidth: 26,
          itemStyle: {color: part.colour, borderColor: theme.card, borderWidth: 1},
          data: s.bars.map((bar) => bar.ms[k]),
        }),
      ),
    }),
    table: {
      columns: [{name: s.of}, ...s.parts.map((part) => ({name: `${part.name} ms`})), {name: "step ms"}, ...(s.more?.columns ?? [])],
      rows: s.bars.map((bar, i) => [bar.name, ...bar.ms, bar.whole, ...(s.more?.cells[i] ?? [])]),
    },
  };
}
