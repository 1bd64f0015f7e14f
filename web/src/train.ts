// The page of `infold train`: the phases of a step, its buckets, what it keeps in memory.
import {Counters, Train} from "./payload";
import {countersOf} from "./counters";
import {breakdown, stepFacts, timelineOf, where} from "./steps";
import {capital, digits, milliseconds, percent, size} from "./format";
import {View} from "./view";
import {barFigure} from "./bars";

function answer(t: Train): string {
  const p = t.phases_ms;
  const step = `A step of ${where(t)} takes ${milliseconds(p.step)}`;
  if (t.gpus === 1) return `A step of ${t.model} on one GPU of ${t.system} takes ${milliseconds(p.step)}, ${percent(p.backward / p.step)} of it in backward.`;
  const exposed = `${milliseconds(p.exposed_comm)} of communication is left exposed (${percent(p.exposed_comm / p.step)} of the step)`;
  if (!t.overlap) return `${step} without overlap; ${exposed}.`;
  const slower = t.backward_slowdown >= 0 ? "longer" : "less";
  return `${step}; backward takes ${percent(Math.abs(t.backward_slowdown))} ${slower} beside ${t.algo} than alone, and ${exposed}.`;
}

export function trainView(t: Train, counters: Counters[]): View {
  const name = `${t.algo}${t.overlap ? ", overlapped" : ""}`;
  const facts = stepFacts(t);
  if (t.gpus > 1) facts.push(["reduced by", `${name}${t.comm_sms !== undefined ? `, on ${t.comm_sms} SMs` : ""}`]);
  facts.push(["samples/s", digits(t.samples_per_s)]);
  const figures = [breakdown([{name: t.gpus > 1 ? name : t.model, step: t}]), ...timelineOf({name, step: t}), ...countersOf(name, counters[0], t.last_pass_ms?.end, "counters")];
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
  const memory = Object.entries(t.memory_bytes).filter(([kind]) => kind !== "total");
  figures.push(
    barFigure({
      id: "memory",
      title: "What a GPU keeps in memory",
      caption: `${size(t.memory_bytes.total)} in all.`,
      groups: memory.map(([kind]) => kind),
      series: [{name: "memory", values: memory.map(([, bytes]) => bytes)}],
      show: size,
      unit: "",
      colours: ["memory"],
    }),
  );
  return {title: capital(`training ${where(t)}`), answer: answer(t), warnings: [], figures, facts};
}
