// Steps whose ranks share a model: what compute waited for, by communicator, and how much longer kernels took.
import {Communication, History, Step} from "./payload";
import {milliseconds, percent, plain, size} from "./format";
import {grid, namesAxis, tick, tip, valueAxis} from "./axes";
import {kPhaseColours} from "./theme";
import {barFigure} from "./bars";
import {Figure} from "./figure";
import {Range, rangeSeries} from "./ranges";
import {stackedFigure} from "./stacked";

/** Whether there is more to tell than the all-reduces of buckets. */
export const hasLayout = (step: Step): boolean => step.comm !== undefined && (step.comm.length > 1 || step.comm.some((c) => c.collective !== "all_reduce"));

const communicationName = (c: {name: string; collective: string}): string => `${c.name}, ${plain(c.collective)}`;

const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);

/** How much longer all kernels took beside communication than alone. */
export function kernelsSlowdown(step: Step): number {
  const kernels = step.kernels ?? [];
  const alone = sum(kernels.map((k) => k.alone_ms));
  return alone > 0 ? sum(kernels.map((k) => k.beside_ms)) / alone - 1 : 0;
}

/** What the stream of compute did all the time, of one rank. Not of pipelines, whose stages differ. */
export function computeFigure(steps: {name: string; step: Step}[], of?: {id: string; name: string}): Figure {
  const names: [name: string, colour: string][] = [
    ["earlier passes", "#56B4E9"],
    ["kernels alone", "#0072B2"],
    ["slower beside communication", "#D55E00"],
    ["waiting for communication", "#E69F00"],
    ["waiting for stages", "#CC79A7"],
    ["between kernels", "#999999"],
  ];
  const bars = steps.map(({name, step}) => {
    const kernels = step.kernels ?? [];
    const alone = sum(kernels.map((k) => Math.min(k.alone_ms, k.beside_ms)));
    const slower = sum(kernels.map((k) => Math.max(0, k.beside_ms - k.alone_ms)));
    const earlier = step.accumulate > 1 ? step.phases_ms.step - step.last_pass_ms!.end : 0;
    const [exposed, bubble] = [step.exposed_comm_ms ?? 0, step.bubble_ms ?? 0];
    const rest = Math.max(0, step.phases_ms.step - earlier - alone - slower - exposed - bubble);
    return {name, ms: [earlier, alone, slower, exposed, bubble, rest], whole: step.phases_ms.step};
  });
  const kept = names.map((_, k) => k).filter((k) => [1, 2, 3].includes(k) || bars.some((bar) => bar.ms[k] > 0));
  return stackedFigure({
    id: of?.id ?? "compute",
    title: `What compute does all the time${of ? `: ${of.name}` : ""}`,
    caption:
      "Of one GPU: what its kernels take alone, what they take longer because communication runs beside them, and how long it has nothing to do before communication is there. Between kernels are launches, and copies that only communication needs.",
    of: "run",
    parts: kept.map((k) => ({name: names[k][0], colour: names[k][1]})),
    bars: bars.map((bar) => ({...bar, ms: kept.map((k) => bar.ms[k])})),
  });
}

/** How long each kind of communication was under way, and how much of it compute waited for. */
export function communicatorsFigure(comm: Communication[]): Figure {
  const figure = barFigure({
    id: "communicators",
    title: "Communication by communicator",
    caption: "How long communication of each kind was under way on one GPU, and how long compute waited for it. What is not waited for is hidden behind compute.",
    groups: comm.map(communicationName),
    series: [
      {name: "under way", values: comm.map((c) => c.busy_ms)},
      {name: "waited for", values: comm.map((c) => c.exposed_ms)},
    ],
    show: milliseconds,
    axis: milliseconds,
    unit: "",
    colours: ["under way", "waited for"],
  });
  return {
    ...figure,
    table: {
      columns: [{name: "communicator"}, {name: "collective"}, {name: "algorithm"}, {name: "ranks"}, {name: "calls"}, {name: "bytes", show: size}, {name: "under way ms"}, {name: "waited for ms"}],
      rows: comm.map((c) => [c.name, plain(c.collective), c.algo, c.ranks, c.calls, c.bytes, c.busy_ms, c.exposed_ms]),
    },
  };
}

export function kernelClassesFigure(step: Step): Figure {
  const kernels = step.kernels!;
  const figure = barFigure({
    id: "classes",
    title: "Kernels alone and beside communication",
    caption:
      `All kernels of a kind together, on one GPU. ${kernels.map((k) => `${k.class}: ${Math.abs(k.slowdown) < 5e-4 ? "as long" : `${percent(Math.abs(k.slowdown))} ${k.slowdown > 0 ? "longer" : "shorter"}`}`).join(", ")}.` +
      (kernels.some((k) => k.slowdown < -5e-4) ? " A kernel can be shorter behind a wait, in which memory writes what the kernel before left, and where what it reads has just been brought into L2." : ""),
    groups: kernels.map((k) => k.class),
    series: [
      {name: "alone", values: kernels.map((k) => k.alone_ms)},
      {name: "beside communication", values: kernels.map((k) => k.beside_ms)},
    ],
    show: milliseconds,
    axis: milliseconds,
    unit: "",
    colours: ["alone", "", "", "beside communication"],
  });
  return {
    ...figure,
    table: {
      columns: [{name: "kernels"}, {name: "number"}, {name: "alone ms"}, {name: "beside ms"}, {name: "slower", show: percent}],
      rows: kernels.map((k) => [k.class, k.kernels, k.alone_ms, k.beside_ms, k.slowdown]),
    },
  };
}

/** Compute in the first row, a kind of communication in each other. */
export function communicationTimeline(name: string, step: Step, history: History): Figure {
  const rows = ["compute", ...history.communication.map(communicationName)];
  const end = step.last_pass_ms!.end;
  const compute = (phase: string): Range[] => history.compute.filter(([of]) => of === phase).map(([, from, to]) => ({row: 0, from, to}));
  const kinds: [string, string, Range[]][] = [
    ["forward", kPhaseColours.forward, compute("forward")],
    ["backward", kPhaseColours["backward alone"], compute("backward")],
    ["optimizer", kPhaseColours.optimizer, compute("optimizer")],
    ["communication", kPhaseColours["exposed communication"], history.communication.flatMap((c, i) => c.spans.map(([from, to]): Range => ({row: i + 1, from, to})))],
  ];
  const several = step.accumulate > 1;
  return {
    id: "timeline",
    title: `Timeline of ${several ? "the last pass" : "one step"}, ${name}`,
    caption: `The GPU with the longest backward: where there is a gap in the first row, compute waits. Each other row is one kind of communication on one communicator, from when the GPU begins it to its end.${several ? ` The ${step.accumulate - 1} passes before are not drawn.` : ""} Drag or use the buttons to look closer.`,
    description: history.communication.map((c) => `${communicationName(c)}: ${c.spans.length} times`).join("; "),
    height: 110 + 28 * rows.length,
    zoom: true,
    legend: kinds.map(([kind, colour]) => ({name: kind, colour, symbol: "rect"})),
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: 8, right: 16, bottom: 36},
      xAxis: {...valueAxis(theme, "ms from the start of the pass"), min: 0, max: end, nameLocation: "middle", nameGap: 24, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true, showMaxLabel: false, formatter: tick}},
      yAxis: {...namesAxis(theme, rows, narrow), inverse: true},
      dataZoom: zoomOf(theme.line, theme.soft),
      tooltip: {
        trigger: "item",
        formatter: (params) => {
          const p = params as {seriesName: string; value: number[]};
          const [row, from, to] = p.value;
          return tip(row === 0 ? p.seriesName : rows[row], [[null, `${milliseconds(from)} to ${milliseconds(to)}: ${milliseconds(to - from)}`]]);
        },
      },
      series: kinds.map(([kind, colour, ranges]) => rangeSeries(kind, colour, ranges, 0.7)),
    }),
    table: {
      columns: [{name: "row"}, {name: "what"}, {name: "start ms"}, {name: "end ms"}],
      rows: kinds.flatMap(([kind, , ranges]) => ranges.map((r) => [rows[r.row], kind, r.from, r.to])),
    },
  };
}

/** Timelines are zoomed along their time: a slider, by dragging, or with Ctrl and the wheel. */
export function zoomOf(line: string, soft: string) {
  return [
    {type: "slider" as const, xAxisIndex: 0, filterMode: "none" as const, height: 18, bottom: 8, borderColor: line, textStyle: {color: soft}, labelFormatter: (v: number) => milliseconds(v)},
    {type: "inside" as const, xAxisIndex: 0, filterMode: "none" as const, zoomOnMouseWheel: "ctrl" as const, moveOnMouseWheel: false},
  ];
}
