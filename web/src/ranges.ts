// Horizontal bars from one value to another, row by row: timelines and waterfalls.
import type {CustomSeriesOption} from "echarts";
import {clipRect} from "./charts";

export interface Range {
  row: number;
  from: number;
  to: number;
  /** Written into the bar where there is room. */
  label?: string;
  /** Its own colour and that of its label, where they are not the series'. */
  colour?: string;
  labelColour?: string;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A range that is shorter than a pixel is still there to be seen. */
const kLeastWidth = 1.5;

export function rangeSeries(name: string, colour: string, ranges: Range[], share: number, textColour = "#ffffff"): CustomSeriesOption {
  return {
    type: "custom",
    name,
    itemStyle: {color: colour},
    encode: {x: [1, 2], y: 0},
    data: ranges.map((r) => [r.row, r.from, r.to]),
    renderItem: (params, api) => {
      const row = api.value(0);
      const a = api.coord([api.value(1), row]);
      const b = api.coord([api.value(2), row]);
      const height = (api.size!([0, 1]) as number[])[1] * share;
      const left = Math.min(a[0], b[0]);
      const width = Math.max(Math.abs(b[0] - a[0]), kLeastWidth);
      const box = clipRect({x: left, y: a[1] - height / 2, width, height}, params.coordSys as unknown as Box);
      if (!box) return undefined;
      const {label, colour: own, labelColour} = ranges[params.dataIndexInside] ?? {};
      const rect = {type: "rect" as const, shape: box, style: {fill: own ?? colour, decal: api.visual("decal")}};
      if (!label || box.width < label.length * 7 + 8) return rect;
      return {
        ...rect,
        textContent: {type: "text" as const, style: {text: label, fill: labelColour ?? textColour, fontSize: 11}},
        textConfig: {position: "inside" as const},
      };
    },
  };
}
