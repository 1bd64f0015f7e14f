// What a GPU keeps in memory: all together, and over the time of a step.
import type {LineSeriesOption} from "echarts";
import {MemoryLine, PageSystem, Train} from "./payload";
import {quantities} from "./quantity";
import {milliseconds, percent, size} from "./format";
import {grid, tick, tip, valueAxis} from "./axes";
import {barFigure, binarySteps} from "./bars";
import {colour} from "./theme";
import {Figure} from "./figure";

/** Memory is drawn with the capacity where it is not less than this part of it. */
const kNear = 5;

/** What a GPU of the run has, as its parameters say. */
function capacityOf(systems: PageSystem[]): number | undefined {
  const said = systems[0]?.parameters.find((p) => p.path === "gpu.hbm.capacity")?.value;
  return said === undefined ? undefined : quantities([said])?.[0];
}

export function memoryFigure(t: Train, systems: PageSystem[]): Figure {
  const capacity = capacityOf(systems);
  const {total, ...kinds} = t.memory_bytes;
  const near = capacity !== undefined && total > capacity / kNear;
  const said = capacity === undefined ? "" : ` of ${size(capacity)}, ${total < 0.0005 * capacity ? "less than 0.1 %" : percent(total / capacity)}`;
  const most = t.pipeline !== undefined ? ", on the stage that needs most" : "";
  const gathered = "gathered" in kinds ? " Gathered are weights and gradients that are whole for a while, and what they are sent in." : "";
  return barFigure({
    id: "memory",
    title: "What a GPU keeps in memory",
    caption: `${size(total)}${said}${most}.${gathered}${capacity === undefined ? "" : near ? " The line is what the GPU has." : " What the GPU has is far to the right of the chart."}`,
    groups: [...Object.keys(kinds), "in all"],
    series: [{name: "memory", values: [...Object.values(kinds), total]}],
    show: size,
    axis: size,
    binary: true,
    unit: "",
    colours: ["memory"],
    reference: near ? {value: capacity, name: `capacity ${size(capacity)}`} : undefined,
  });
}

interface Line {
  name: string;
  colour: string;
  at_ms: number[];
  bytes: number[];
}

/** One line for each stage; without stages what is kept, and on it what comes and goes. */
function linesOf(memory: MemoryLine[]): Line[] {
  const whole = (m: MemoryLine) => m.activations.map((bytes, i) => m.kept + bytes + (m.gathered?.[i] ?? 0));
  if (memory.length > 1) return memory.map((m, i) => ({name: `stage ${i}`, colour: colour(i), at_ms: m.at_ms, bytes: whole(m)}));
  const [m] = memory;
  const lines = [{name: "with activations", colour: colour(0), at_ms: m.at_ms, bytes: whole(m)}];
  if (m.gathered !== undefined) lines.push({name: "kept and gathered", colour: colour(1), at_ms: m.at_ms, bytes: m.gathered.map((bytes) => m.kept + bytes)});
  return [...lines, {name: "kept", colour: colour(2), at_ms: m.at_ms, bytes: m.at_ms.map(() => m.kept)}];
}

function at(line: Line, ms: number): number {
  const next = line.at_ms.findIndex((t) => t > ms);
  const i = next < 0 ? line.at_ms.length - 1 : next - 1;
  return line.bytes[Math.max(i, 0)];
}

export function memoryOverTime(memory: MemoryLine[], end: number, systems: PageSystem[]): Figure {
  const lines = linesOf(memory);
  const most = Math.max(...lines.flatMap((line) => line.bytes));
  const capacity = capacityOf(systems);
  const near = capacity !== undefined && most > capacity / kNear;
  const stages = memory.length > 1;
  const times = [...new Set(lines.flatMap((line) => line.at_ms))].sort((a, b) => a - b);
  return {
    id: "memory-time",
    title: "Memory over time",
    caption: `${stages ? "Of a GPU of each stage: weights, gradients and the state of the optimizer are kept, activations of micro-batches come and go." : "Kept are weights, gradients and the state of the optimizer; activations grow in forward and go in backward."} At most ${size(most)}.${near ? " The dashed line is what the GPU has." : ""}`,
    description: lines.map((line) => `${line.name}: at most ${size(Math.max(...line.bytes))}`).join("; "),
    height: 260,
    zoom: true,
    legend: lines.map((line) => ({name: line.name, colour: line.colour, symbol: "rect"})),
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: 12, bottom: 8},
      xAxis: {...valueAxis(theme, "ms from the start of the pass"), min: 0, max: end, nameLocation: "middle", nameGap: 24, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true, showMaxLabel: false, formatter: tick}},
      yAxis: {...valueAxis(theme, ""), min: 0, ...binarySteps(near ? capacity : most, narrow), axisLabel: {color: theme.soft, formatter: (v: number) => size(v)}},
      dataZoom: [{type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false}],
      tooltip: {
        trigger: "axis",
        formatter: (params) => {
          const first = (Array.isArray(params) ? params[0] : params) as {axisValue?: number; value?: number[]} | undefined;
          const ms = first?.value?.[0] ?? first?.axisValue ?? 0;
          return tip(milliseconds(ms), lines.map((line): [string, string] => [line.colour, `${line.name}: ${size(at(line, ms))}`]));
        },
      },
      series: lines.map(
        (line, i): LineSeriesOption => ({
          type: "line",
          name: line.name,
          step: "end",
          showSymbol: false,
          itemStyle: {color: line.colour},
          lineStyle: {color: line.colour, width: 1.5},
          ...(stages ? {} : {areaStyle: {color: line.colour, opacity: 0.15}}),
          data: [...line.at_ms.map((t, k) => [t, line.bytes[k]]), [end, line.bytes[line.bytes.length - 1]]],
          ...(i === 0 && near
            ? {markLine: {silent: true, symbol: "none", lineStyle: {color: theme.soft, type: "dashed" as const, width: 1.5}, label: {show: true, position: "insideStartTop" as const, formatter: `capacity ${size(capacity)}`, color: theme.soft}, data: [{yAxis: capacity}]}}
            : {}),
        }),
      ),
    }),
    table: {
      columns: [{name: "ms"}, ...lines.map((line) => ({name: line.name, show: size}))],
      rows: times.map((t) => [t, ...lines.map((line) => at(line, t))]),
    },
  };
}
