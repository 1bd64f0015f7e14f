// The page of `infold train`: the phases of a step, its buckets, what it keeps in memory.
import {Counters, PageSystem, Train} from "./payload";
import {quantities} from "./quantity";
import {countersOf} from "./counters";
import {breakdown, copyingBack, method, stepFacts, timelineOf, where} from "./steps";
import {capital, digits, milliseconds, percent, size} from "./format";
import {View} from "./view";
import {barFigure} from "./bars";
import {Figure} from "./figure";

/** Memory is drawn with the capacity where it is not less than this part of it. */
const kNear = 5;

function answer(t: Train): string {
  const p = t.phases_ms;
  const step = `A step of ${where(t)} takes ${milliseconds(p.step)}`;
  if (t.gpus === 1) return `A step of ${t.model} on one GPU of ${t.system} takes ${milliseconds(p.step)}, ${percent(p.backward / p.step)} of it in backward.`;
  const copied = copyingBack(t);
  const exposed = `${milliseconds(p.exposed_comm - copied)} of communication is left exposed (${percent((p.exposed_comm - copied) / p.step)} of the step)${copied > 0 ? `, and ${milliseconds(copied)} of copying gradients back` : ""}`;
  if (!t.overlap) return `${step} without overlap; ${exposed}.`;
  const slower = t.backward_slowdown >= 0 ? "longer" : "less";
  return `${step}; backward takes ${percent(Math.abs(t.backward_slowdown))} ${slower} beside ${method(t)} than alone, and ${exposed}.`;
}

/** What a GPU of the run has, as its parameters say. */
function capacityOf(systems: PageSystem[]): number | undefined {
  const said = systems[0]?.parameters.find((p) => p.path === "gpu.hbm.capacity")?.value;
  return said === undefined ? undefined : quantities([said])?.[0];
}

function memoryFigure(t: Train, systems: PageSystem[]): Figure {
  const capacity = capacityOf(systems);
  const {total, ...kinds} = t.memory_bytes;
  const near = capacity !== undefined && total > capacity / kNear;
  const said = capacity === undefined ? "" : ` of ${size(capacity)}, ${percent(total / capacity)}`;
  return barFigure({
    id: "memory",
    title: "What a GPU keeps in memory",
    caption: `${size(total)}${said}.${capacity === undefined ? "" : near ? " The line is what the GPU has." : " What the GPU has is far to the right of the chart."}`,
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

export function trainView(t: Train, counters: Counters[], systems: PageSystem[]): View {
  const name = `${method(t)}${t.overlap ? ", overlapped" : ""}`;
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
  figures.push(memoryFigure(t, systems));
  return {title: capital(`training ${where(t)}`), answer: answer(t), warnings: [], figures, facts};
}
