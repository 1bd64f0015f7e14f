// Training steps: their breakdown into phases, and the timeline of one.
import {Bucket, LastPass, Step} from "./payload";
import {digits, milliseconds, percent, size} from "./format";
import {grid, namesAxis, tick, tip, valueAxis} from "./axes";
import {kPhaseColours, kWaitColour} from "./theme";
import {Figure} from "./figure";
import {Range, rangeSeries} from "./ranges";
import {hasLayout, zoomOf} from "./layout";
import {stackedFigure} from "./stacked";
import {methodName} from "./methods";

/** A step and what it is called in a chart. */
export interface NamedStep {
  name: string;
  step: Step;
}

/**
 * Copying the last gradients out of their bucket: from the end of the last collective to the optimizer. The copies before are made
 * while later buckets are reduced. Zero where the result does not say when buckets ended.
 */
export function copyingBack(step: Step): number {
  const {last_pass_ms: pass, buckets} = step;
  if (hasLayout(step)) return 0; // what comes behind the last bucket may be other communication
  if (pass === undefined || buckets === undefined || buckets.length === 0) return 0;
  const reduced = Math.max(pass.backward_end, ...buckets.map((b) => b.end_ms));
  return Math.min(Math.max(0, pass.optimizer_start - reduced), step.phases_ms.exposed_comm);
}

/** The phases that add up to a step. A backward that is faster than alone has no slow-down to show. */
function phases(step: Step): [name: string, ms: number][] {
  const p = step.phases_ms;
  const alone = Math.min(step.backward_alone_ms, p.backward);
  return [
    ["waiting", p.waiting ?? 0],
    ["forward", p.forward],
    ["backward alone", alone],
    ["backward slow-down", p.backward - alone],
    ["exposed communication", p.exposed_comm - copyingBack(step)],
    ["copying back", copyingBack(step)],
    ["optimizer", p.optimizer],
  ];
}

/** Waiting is shown where it is more than this share of a step: a launch is less. */
const kLeastWaiting = 0.005;

export function breakdown(steps: NamedStep[], of?: {id: string; name: string}): Figure {
  const copies = steps.some((s) => copyingBack(s.step) > 0);
  const waits = steps.some((s) => (s.step.phases_ms.waiting ?? 0) > kLeastWaiting * s.step.phases_ms.step);
  const alone = steps.every((s) => s.step.gpus === 1);
  const left = [...(copies ? [] : ["copying back"]), ...(waits ? [] : ["waiting"]), ...(alone ? ["backward slow-down", "exposed communication"] : [])];
  const names = Object.keys(kPhaseColours).filter((name) => !left.includes(name));
  const parts = steps.map((s) => phases(s.step).filter(([name]) => names.includes(name)));
  return stackedFigure({
    id: of?.id ?? "phases",
    title: `Where a step's time goes${of ? `: ${of.name}` : ""}`,
    caption:
      (alone ? "Of all passes of a step." : `Backward is cut in two: what it takes alone, and what it takes longer beside communication${steps.some((s) => hasLayout(s.step)) ? ", which it also waits for" : ""}. Exposed is communication that the optimizer waits for after backward.`) +
      (steps.some((s) => (s.step.parallel?.pp ?? 1) > 1) ? " In a pipeline, backward reaches from the first micro-batch's to the last one's, with forward passes of others in between; this is the stage whose backward takes longest." : "") +
      (copies ? " Copying back: from the end of the last bucket's collective, its gradients are copied to where the optimizer reads them." : "") +
      (waits ? ` Waiting is time of no phase: ${alone ? "launches between them." : "before the first kernel, for its weights, and between passes."}` : ""),
    of: "run",
    parts: names.map((name) => ({name: alone && name === "backward alone" ? "backward" : name, colour: kPhaseColours[name]})),
    bars: steps.map((s, i) => ({name: s.name, ms: parts[i].map(([, ms]) => ms), whole: s.step.phases_ms.step})),
    more: {
      columns: [{name: "slow-down", show: percent}, {name: "samples/s"}],
      cells: steps.map((s) => [s.step.backward_slowdown, s.step.samples_per_s]),
    },
  });
}

const kGpuWaits = "GPU waits for buckets";
const kCopies = "copying back";
const kGpuWaitsColour = "#CC79A7";
const kWaiting = "bucket waits";
const kReducing = "bucket is reduced";
const kMostRows = 40;

/** The step's phases in the first row, a bucket in each other. */
export function timeline(run: NamedStep & {step: {last_pass_ms: LastPass; buckets: Bucket[]}}, id = "timeline"): Figure {
  const {last_pass_ms: pass, buckets} = run.step;
  const rows = ["GPU", ...buckets.map((b) => `${b.index}: ${size(b.bytes)}`)];
  const phase = (from: number, to: number, label: string): Range[] => (to > from ? [{row: 0, from, to, label}] : []);
  const several = run.step.accumulate > 1;
  const copied = copyingBack(run.step);
  return {
    id,
    title: `Timeline of ${several ? "the last pass" : "one step"}, ${run.name}`,
    caption: `The GPU in the first row, a bucket of gradients in each other: it waits from when it is full until those before it are done, then it is reduced.${several ? ` The ${run.step.accumulate - 1} passes before are not drawn.` : ""} Drag or use the buttons to look closer.`,
    description: `Backward from ${milliseconds(pass.backward_start)} to ${milliseconds(pass.backward_end)}; ${buckets.length} buckets, the last of which ends at ${milliseconds(Math.max(0, ...buckets.map((b) => b.end_ms)))}.`,
    height: Math.min(110 + 20 * Math.min(rows.length, kMostRows), 620),
    zoom: true,
    legend: [
      {name: "forward", colour: kPhaseColours.forward, symbol: "rect"},
      {name: "backward", colour: kPhaseColours["backward alone"], symbol: "rect"},
      {name: kGpuWaits, colour: kGpuWaitsColour, symbol: "rect"},
      ...(copied > 0 ? [{name: kCopies, colour: kPhaseColours[kCopies], symbol: "rect"}] : []),
      {name: "optimizer", colour: kPhaseColours.optimizer, symbol: "rect"},
      {name: kWaiting, colour: kWaitColour, symbol: "rect"},
      {name: kReducing, colour: kPhaseColours["exposed communication"], symbol: "rect"},
    ],
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: 8, right: rows.length > kMostRows ? 40 : 16, bottom: 36},
      xAxis: {...valueAxis(theme, "ms from the start of the pass"), min: 0, max: pass.end, nameLocation: "middle", nameGap: 24, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true, showMaxLabel: false, formatter: tick}},
      yAxis: {...namesAxis(theme, rows, narrow), inverse: true, axisLabel: {color: theme.soft, fontSize: 11}},
      dataZoom: [
        ...zoomOf(theme.line, theme.soft),
        ...(rows.length > kMostRows ? [{type: "slider" as const, yAxisIndex: 0, filterMode: "weakFilter" as const, width: 16, right: 4, startValue: 0, endValue: kMostRows, showDetail: false, brushSelect: false}] : []),
      ],
      tooltip: {
        trigger: "item",
        formatter: (params) => {
          const p = params as {seriesName: string; value: number[]};
          const [row, from, to] = p.value;
          const took: [null, string] = [null, `${milliseconds(from)} to ${milliseconds(to)}: ${milliseconds(to - from)}`];
          if (row === 0) return tip(p.seriesName, [took]);
          const b = buckets[row - 1];
          return tip(`bucket ${b.index}, ${size(b.bytes)}`, [[null, `${b.algo}, ${b.proto}`], [null, p.seriesName], took]);
        },
      },
      series: [
        rangeSeries("forward", kPhaseColours.forward, phase(0, pass.backward_start, "forward"), 0.8, "#1b1f24"),
        rangeSeries("backward", kPhaseColours["backward alone"], phase(pass.backward_start, pass.backward_end, "backward"), 0.8),
        rangeSeries(kGpuWaits, kGpuWaitsColour, phase(pass.backward_end, pass.optimizer_start - copied, "waits"), 0.8, "#1b1f24"),
        rangeSeries(kCopies, kPhaseColours[kCopies], phase(pass.optimizer_start - copied, pass.optimizer_start, "copies"), 0.8, "#1b1f24"),
        rangeSeries("optimizer", kPhaseColours.optimizer, phase(pass.optimizer_start, pass.end, "optimizer"), 0.8),
        rangeSeries(kWaiting, kWaitColour, buckets.map((b, i) => ({row: i + 1, from: b.ready_ms, to: b.start_ms})), 0.3),
        rangeSeries(kReducing, kPhaseColours["exposed communication"], buckets.map((b, i) => ({row: i + 1, from: b.start_ms, to: b.end_ms})), 0.7),
        {
          type: "line",
          name: "end of backward",
          data: [],
          markLine: {
            silent: true,
            symbol: "none",
            label: {show: false},
            lineStyle: {color: theme.soft, type: "dashed"},
            data: [{xAxis: pass.backward_end}],
          },
        },
      ],
    }),
    table: {
      columns: [{name: "bucket", show: String}, {name: "bytes", show: size}, {name: "algo"}, {name: "proto"}, {name: "ready ms"}, {name: "start ms"}, {name: "end ms"}],
      rows: buckets.map((b) => [b.index, b.bytes, b.algo, b.proto, b.ready_ms, b.start_ms, b.end_ms]),
    },
  };
}

/** The timeline, if the step has what it takes to draw one. */
export function timelineOf(run: NamedStep, id?: string): Figure[] {
  const {last_pass_ms, buckets} = run.step;
  if (last_pass_ms === undefined || buckets === undefined || buckets.length === 0 || hasLayout(run.step)) return [];
  return [timeline({name: run.name, step: {...run.step, last_pass_ms, buckets}}, id)];
}

export const method = (row: Step): string => methodName(row.algo, row.engine);

const machine = (step: Step): string => `${step.gpus === 1 ? "one GPU" : `${step.gpus} GPUs`} of ${step.system}`;
export const where = (step: Step): string => `${step.model} on ${machine(step)}`;

/** "dp 2 x tp 4", or nothing where all GPUs hold the whole model. */
export function layoutName(step: Step): string | undefined {
  const l = step.parallel;
  if (l === undefined || l.tp * l.pp * l.ep * l.cp === 1) return undefined;
  const axes = (["dp", "tp", "cp", "pp"] as const).filter((axis) => axis === "dp" || l[axis] > 1).map((axis) => `${axis} ${l[axis]}`);
  return axes.join(" x ") + (l.ep > 1 ? `, ep ${l.ep} within dp` : "");
}

function batchOf(step: Step): string {
  const layout = layoutName(step);
  const micro = step.micro_batches ?? 1;
  const several = micro > 1 ? ` x ${micro} micro-batches` : step.accumulate > 1 ? ` x ${step.accumulate} passes` : "";
  return `${step.batch}${step.tokens > 0 ? ` x ${step.tokens} tokens` : ""}${several} per ${layout !== undefined && step.parallel!.dp < step.gpus ? "replica" : "GPU"}`;
}

export function stepFacts(step: Step): [string, string][] {
  const layout = layoutName(step);
  const facts: [string, string | undefined][] = [
    ["model", `${step.model}${step.parameters !== undefined ? `, ${digits(step.parameters / 1e6)} million parameters` : ""}`],
    ["system", machine(step)],
    ["layout", layout],
    ["schedule", step.schedule === undefined ? undefined : `${step.schedule}${step.virtual_stages !== undefined ? `, ${step.virtual_stages} parts of the model on each stage` : ""}`],
    ["batch", batchOf(step)],
    ["numbers", `${step.dtype}, ${step.fusion}, ${step.optimizer}`],
    ["recomputed", step.recompute === undefined || step.recompute === "none" ? undefined : step.recompute],
    ["gradients", step.gpus > 1 ? `by ${step.sync}` : undefined],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
}
