// A result over two things that were varied, as coloured cells with their values.
import type {CustomSeriesOption} from "echarts";
import {grid, tip} from "./axes";
import {digits} from "./format";
import {Theme} from "./theme";

export interface Heat {
  across: {name: string; values: string[]};
  down: {name: string; values: string[]};
  cells: {across: number; down: number; value: number}[];
}

/** From dark to light, evenly in lightness: some stops of viridis, which colour-blind people read as well. */
const kStops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
export function shade(share: number): string {
  const at = Math.min(Math.max(share, 0), 1) * (kStops.length - 1);
  const i = Math.min(Math.floor(at), kStops.length - 2);
  const mix = kStops[i].map((from, k) => Math.round(from + (kStops[i + 1][k] - from) * (at - i)));
  return `rgb(${mix.join(", ")})`;
}

export function heatOption(heat: Heat, theme: Theme, narrow: boolean) {
  const values = heat.cells.map((c) => c.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const log = low > 0 && high / low >= 10;
  const share = (v: number) => (high === low ? 0.5 : log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
  const axis = (of: {name: string; values: string[]}) => ({
    type: "category" as const,
    data: of.values,
    name: of.name,
    nameTextStyle: {color: theme.soft},
    axisLabel: {color: theme.soft, hideOverlap: true},
    axisLine: {show: false},
    axisTick: {show: false},
  });
  const series: CustomSeriesOption = {
    type: "custom",
    name: "cells",
    encode: {x: 0, y: 1},
    data: heat.cells.map((c) => [c.across, c.down, c.value]),
    renderItem: (_, api) => {
      const [x, y] = api.coord([api.value(0), api.value(1)]);
      const [width, height] = api.size!([1, 1]) as number[];
      const value = api.value(2) as number;
      const light = share(value) > 0.55;
      const rect = {type: "rect" as const, shape: {x: x - width / 2 + 1, y: y - height / 2 + 1, width: width - 2, height: height - 2}, style: {fill: shade(share(value))}};
      const text = digits(value);
      if (width < text.length * 7 + 6 || height < 14) return rect;
      return {...rect, textContent: {type: "text" as const, style: {text, fill: light ? "#1b1f24" : "#ffffff", fontSize: 11}}, textConfig: {position: "inside" as const}};
    },
  };
  return {
    grid: {...grid(narrow), top: 28},
    xAxis: {...axis(heat.across), nameLocation: "middle" as const, nameGap: 28},
    yAxis: {...axis(heat.down), nameTextStyle: {color: theme.soft, align: "left" as const, padding: [0, 0, 0, -24]}},
    tooltip: {
      trigger: "item" as const,
      formatter: (params: unknown) => {
        const [a, d, value] = (params as {value: number[]}).value;
        return tip(`${heat.across.name} ${heat.across.values[a]}`, [[null, `${heat.down.name} ${heat.down.values[d]}`], [null, digits(value)]]);
      },
    },
    series: [series],
  };
}
