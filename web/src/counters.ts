// What a GPU's links, SMs and memory did during a step, on the clock of its timeline.
import type {LineSeriesOption} from "echarts";
import {colour, symbol} from "./theme";
import {grid, tick, tip, valueAxis} from "./axes";
import {digits, milliseconds} from "./format";
import {Counters} from "./payload";
import {Figure} from "./figure";

interface Kind {
  name: string;
  of: [name: string, shown: string][];
}
const kKinds: Kind[] = [
  {name: "links", of: [["links out", "out"], ["links in", "in"]]},
  {name: "SMs", of: [["SMs of compute", "compute"], ["SMs of collectives", "collectives"]]},
  {name: "memory", of: [["HBM of compute", "compute"], ["HBM of collectives", "collectives"]]},
];

/** What the counter had at a time. */
function at(line: Counters["lines"][number], ms: number): number {
  const next = line.at_ms.findIndex((t) => t > ms);
  const i = next < 0 ? line.at_ms.length - 1 : next - 1;
  return i < 0 ? 0 : line.values[i];
}

function counterFigure(run: string, counters: Counters, end: number, id: string, chosen: number): Figure {
  const kinds = kKinds.filter((kind) => kind.of.some(([name]) => counters.lines.some((line) => line.name === name)));
  const kind = kinds[chosen];
  const lines = kind.of.flatMap(([name, shown]) => {
    const line = counters.lines.find((l) => l.name === name);
    return line ? [{...line, shown}] : [];
  });
  const unit = lines[0].unit;
  const most = (line: (typeof lines)[number]) => line.values.reduce((a, b) => Math.max(a, b), 0);
  const times = [...new Set(lines.flatMap((line) => line.at_ms))].filter((t) => t <= end).sort((a, b) => a - b);
  return {
    id,
    title: `${kind.name === "memory" ? "Memory" : kind.name === "links" ? "Links" : "SMs"} of ${counters.gpu} during the step, ${run}`,
    caption: {links: "Bytes on the wire, headers and acknowledgements counted.", SMs: "SMs held, by the share of an SM's threads.", memory: "Bytes read from and written to memory."}[kind.name]!,
    description: lines.map((line) => `${line.shown}: at most ${digits(most(line))} ${unit}`).join("; "),
    height: 220,
    zoom: true,
    legend: lines.map((line, i) => ({name: line.shown, colour: colour(i), symbol: symbol(i)})),
    choices: [{label: "Of the GPU", options: kinds.map((k) => k.name), chosen}],
    choose: ([next]) => counterFigure(run, counters, end, id, next),
    option: (theme, narrow) => ({
      grid: {...grid(narrow), bottom: 8},
      xAxis: {...valueAxis(theme, "ms from the start of the pass"), min: 0, max: end, nameLocation: "middle", nameGap: 24, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true, showMaxLabel: false, formatter: tick}},
      yAxis: valueAxis(theme, unit),
      dataZoom: [{type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false}],
      tooltip: {
        trigger: "axis",
        formatter: (params) => {
          const first = (Array.isArray(params) ? params[0] : params) as {axisValue?: number; value?: number[]} | undefined;
          const ms = first?.value?.[0] ?? first?.axisValue ?? 0;
          return tip(milliseconds(ms), lines.map((line, i): [string, string] => [colour(i), `${line.shown}: ${digits(at(line, ms))} ${unit}`]));
        },
      },
      series: lines.map(
        (line, i): LineSeriesOption => ({
          type: "line",
          name: line.shown,
          step: "end",
          showSymbol: false,
          symbol: symbol(i),
          itemStyle: {color: colour(i)},
          lineStyle: {color: colour(i), width: 1.5, type: i === 0 ? "solid" : "dashed"},
          areaStyle: {color: colour(i), opacity: 0.15},
          data: line.at_ms.map((t, k) => [t, line.values[k]]),
        }),
      ),
    }),
    table: {
      columns: [{name: "ms"}, ...lines.map((line) => ({name: `${line.shown} ${unit}`}))],
      rows: times.map((t) => [t, ...lines.map((line) => at(line, t))]),
    },
  };
}

/** The figure, if the run was recorded. */
export function countersOf(run: string, counters: Counters | undefined, end: number | undefined, id: string): Figure[] {
  const known = (counters?.lines ?? []).some((line) => kKinds.some((kind) => kind.of.some(([name]) => name === line.name)));
  return counters === undefined || end === undefined || !known ? [] : [counterFigure(run, counters, end, id, 0)];
}
