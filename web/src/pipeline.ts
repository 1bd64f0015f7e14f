// The stages of a pipeline: what each works on when, and where its time goes.
import {StagePass, Train} from "./payload";
import {milliseconds, percent} from "./format";
import {grid, namesAxis, tick, tip, valueAxis} from "./axes";
import {colour, inkOn, kPhaseColours, shaded} from "./theme";
import {Figure} from "./figure";
import {Range, rangeSeries} from "./ranges";
import {stackedFigure} from "./stacked";
import {zoomOf} from "./layout";

interface Kind {
  pass: StagePass["pass"];
  name: string;
  /** How much lighter (or darker) than its micro-batch's colour. */
  shade: number;
}
const kKinds: Kind[] = [
  {pass: "forward", name: "forward", shade: 0.6},
  {pass: "backward", name: "backward", shade: 0},
  {pass: "input-gradient", name: "gradients of inputs", shade: 0},
  {pass: "weight-gradient", name: "gradients of weights", shade: -0.35},
];
/** Grey stays free: it means waiting. */
const kColours = 7;

const stagesOf = (passes: StagePass[]): number[] => [...new Set(passes.map((p) => p.stage))];
const lengthOf = (passes: StagePass[]): number => passes.reduce((sum, p) => sum + p.end_ms - p.start_ms, 0);

/** What a stage does not do in any pass. */
export function idleShare(t: Train): number {
  const stages = stagesOf(t.pipeline!);
  return 1 - lengthOf(t.pipeline!) / (stages.length * t.last_pass_ms!.end);
}

export function stagesFigure(t: Train): Figure {
  const passes = t.pipeline!;
  const whole = t.phases_ms.step;
  const of = (stage: number, kinds: string[]) => lengthOf(passes.filter((p) => p.stage === stage && kinds.includes(p.pass)));
  const bars = stagesOf(passes).map((stage) => {
    const parts = [of(stage, ["forward"]), of(stage, ["backward", "input-gradient", "weight-gradient"]), of(stage, ["optimizer"])];
    return {name: `stage ${stage}`, ms: [...parts, Math.max(0, whole - parts[0] - parts[1] - parts[2])], whole};
  });
  return stackedFigure({
    id: "phases",
    title: "Where each stage's time goes",
    caption: "All passes of a stage together; what is left is waiting: for micro-batches of the stages beside it, for messages, and for gradients to be reduced.",
    of: "stage",
    parts: [
      {name: "forward", colour: kPhaseColours.forward},
      {name: "backward", colour: kPhaseColours["backward alone"]},
      {name: "optimizer", colour: kPhaseColours.optimizer},
      {name: "waiting", colour: kPhaseColours.waiting},
    ],
    bars,
    more: {columns: [{name: "waiting", show: percent}], cells: bars.map((bar) => [bar.ms[3] / whole])},
  });
}

export function pipelineFigure(t: Train): Figure {
  const passes = t.pipeline!;
  const stages = stagesOf(passes);
  const rows = stages.map((stage) => `stage ${stage}`);
  const several = passes.some((p) => (p.chunk ?? 0) > 0);
  const range = (p: StagePass, shade: number): Range => {
    const own = shaded(colour((p.micro_batch ?? 0) % kColours), shade);
    return {row: stages.indexOf(p.stage), from: p.start_ms, to: p.end_ms, label: String(p.micro_batch), colour: own, labelColour: inkOn(own)};
  };
  const kinds = kKinds.filter((kind) => passes.some((p) => p.pass === kind.pass));
  const updates = passes.filter((p) => p.pass === "optimizer").map((p): Range => ({row: stages.indexOf(p.stage), from: p.start_ms, to: p.end_ms}));
  const at = (kind: string) => passes.filter((p) => p.pass === kind);
  return {
    id: "pipeline",
    title: `Stages of the pipeline: ${t.schedule}, ${t.micro_batches} micro-batches`,
    caption: `A row for each stage. The number and the colour are the micro-batch's (${kColours} colours, again and again); forward is light, backward ${kinds.length > 2 ? "full, gradients of weights dark" : "full"}. Gaps are the bubble.${several ? " A stage holds several parts of the model, so a micro-batch comes by more than once." : ""} Drag or use the buttons to look closer.`,
    description: `${stages.length} stages, which do nothing for ${percent(idleShare(t))} of the step.`,
    height: 110 + 40 * rows.length,
    zoom: true,
    legend: [
      ...kinds.map((kind) => ({name: kind.name, colour: shaded(colour(0), kind.shade), symbol: "rect"})),
      ...(updates.length > 0 ? [{name: "optimizer", colour: "#7F7F7F", symbol: "rect"}] : []),
    ],
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: 8, right: 16, bottom: 36},
      xAxis: {...valueAxis(theme, "ms from the start of the step"), min: 0, max: t.last_pass_ms!.end, nameLocation: "middle", nameGap: 24, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true, showMaxLabel: false, formatter: tick}},
      yAxis: {...namesAxis(theme, rows, narrow), inverse: true},
      dataZoom: zoomOf(theme.line, theme.soft),
      tooltip: {
        trigger: "item",
        formatter: (params) => {
          const {seriesName, dataIndex, value} = params as {seriesName: string; dataIndex: number; value: number[]};
          const kind = kinds.find((k) => k.name === seriesName);
          const pass = kind === undefined ? undefined : at(kind.pass)[dataIndex];
          const part = several && pass !== undefined ? `, part ${pass.chunk}` : "";
          return tip(pass === undefined ? "optimizer" : `${seriesName} of micro-batch ${pass.micro_batch}${part}`, [
            [null, `${rows[value[0]]}, ${milliseconds(value[1])} to ${milliseconds(value[2])}: ${milliseconds(value[2] - value[1])}`],
          ]);
        },
      },
      series: [
        ...kinds.map((kind) => rangeSeries(kind.name, shaded(colour(0), kind.shade), at(kind.pass).map((p) => range(p, kind.shade)), 0.75)),
        ...(updates.length > 0 ? [rangeSeries("optimizer", "#7F7F7F", updates, 0.75)] : []),
      ],
    }),
    table: {
      columns: [{name: "stage", show: String}, {name: "pass"}, {name: "micro-batch", show: String}, ...(several ? [{name: "part", show: String}] : []), {name: "start ms"}, {name: "end ms"}],
      rows: passes.map((p) => [p.stage, p.pass, p.micro_batch, ...(several ? [p.chunk ?? null] : []), p.start_ms, p.end_ms]),
    },
  };
}
