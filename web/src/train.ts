// The page of `infold train`: the phases of a step, its buckets or stages, what it communicates and keeps in memory.
import {Counters, History, PageSystem, Train} from "./payload";
import {countersOf} from "./counters";
import {breakdown, copyingBack, layoutName, method, stepFacts, timelineOf, where} from "./steps";
import {capital, digits, milliseconds, percent} from "./format";
import {communicationTimeline, communicatorsFigure, computeFigure, hasLayout, kernelClassesFigure, kernelsSlowdown} from "./layout";
import {idleShare, pipelineFigure, stagesFigure} from "./pipeline";
import {memoryFigure, memoryOverTime} from "./memory";
import {View} from "./view";
import {barFigure} from "./bars";
import {Figure} from "./figure";

/** What can be said of every layout. */
function layoutAnswer(t: Train): string {
  const p = t.phases_ms;
  const step = `A step of ${where(t)}${layoutName(t) === undefined ? ` with ${t.sync}` : ` (${layoutName(t)})`} takes ${milliseconds(p.step)}`;
  const kernels = kernelsSlowdown(t);
  const slower = Math.abs(kernels) < 5e-4 ? "kernels take as long beside communication as alone" : `kernels take ${percent(Math.abs(kernels))} ${kernels > 0 ? "longer" : "less time"} beside communication than alone`;
  const waited = t.exposed_comm_ms ?? 0;
  if (t.pipeline !== undefined)
    return `${step}. Its ${t.parallel!.pp} stages do nothing for ${percent(idleShare(t))} of it; ${milliseconds(t.bubble_ms ?? 0)} of that, on average, they wait for micro-batches of other stages (the bubble). While they compute, ${slower}.`;
  return `${step}; compute waits ${milliseconds(waited)} of it for communication (${percent(waited / p.step)}), and ${slower}.`;
}

function answer(t: Train): string {
  const p = t.phases_ms;
  const step = `A step of ${where(t)} takes ${milliseconds(p.step)}`;
  if (t.gpus > 1 && hasLayout(t)) return layoutAnswer(t);
  if (t.gpus === 1) return `A step of ${t.model} on one GPU of ${t.system} takes ${milliseconds(p.step)}, ${percent(p.backward / p.step)} of it in backward.`;
  const copied = copyingBack(t);
  const exposed = `${milliseconds(p.exposed_comm - copied)} of communication is left exposed (${percent((p.exposed_comm - copied) / p.step)} of the step)${copied > 0 ? `, and ${milliseconds(copied)} of copying gradients back` : ""}`;
  if (!t.overlap) return `${step} without overlap; ${exposed}.`;
  const slower = t.backward_slowdown >= 0 ? "longer" : "less";
  return `${step}; backward takes ${percent(Math.abs(t.backward_slowdown))} ${slower} beside ${method(t)} than alone, and ${exposed}.`;
}

/** Where the time goes, of what kind of step it is. */
function timeFigures(name: string, t: Train, history: History | null): Figure[] {
  const step = {name: t.gpus > 1 ? name : t.model, step: t};
  if (!hasLayout(t)) return [breakdown([step]), ...timelineOf({name, step: t})];
  const first = t.pipeline !== undefined ? [stagesFigure(t), pipelineFigure(t)] : [computeFigure([step]), breakdown([step])];
  const timeline = history !== null && history.communication.length > 0 ? [communicationTimeline(name, t, history)] : [];
  return [...first, ...timeline, communicatorsFigure(t.comm!), kernelClassesFigure(t)];
}

export function trainView(t: Train, counters: Counters[], history: History | null, systems: PageSystem[]): View {
  const name = `${method(t)}${t.overlap ? ", overlapped" : ""}`;
  const facts = stepFacts(t);
  if (t.gpus > 1) facts.push(["reduced by", `${name}${t.comm_sms !== undefined ? `, on ${t.comm_sms} SMs` : ""}`]);
  facts.push(["samples/s", digits(t.samples_per_s)]);
  if (t.tokens_per_s_per_gpu) facts.push(["tokens/s per GPU", `${digits(t.tokens_per_s_per_gpu)}, MFU ${percent(t.mfu ?? 0)}`]);
  const figures = [...timeFigures(name, t, history), ...countersOf(name, counters[0], t.last_pass_ms?.end, "counters")];
  if (t.kernel_ms !== undefined) {
    const kinds = Object.entries(t.kernel_ms);
    figures.push(
      barFigure({
        id: "kernels",
        title: "Time by kind of kernel",
        caption: "Of one pass, all kernels of a kind together.",
        groups: kinds.map(([kind]) => kind),
        series: [{name: "time", values: kinds.map(([, ms]) => ms)}],
        show: milliseconds,
        unit: "",
        axis: milliseconds,
        colours: ["time"],
      }),
    );
  }
  figures.push(memoryFigure(t, systems));
  if (history !== null && history.memory.length > 0) {
    const ends = history.memory.map((m) => m.at_ms[m.at_ms.length - 1]);
    figures.push(memoryOverTime(history.memory, t.last_pass_ms?.end ?? Math.max(...ends), systems));
  }
  return {title: capital(`training ${where(t)}`), answer: answer(t), warnings: [], figures, facts};
}
