// The page of `infold compare`: slow-down and repair by algorithm, then steps and timelines side by side.
import {Compare, Counters, Row} from "./payload";
import {countersOf} from "./counters";
import {breakdown, method, stepFacts, timelineOf, where} from "./steps";
import {digits, list, milliseconds, percent, roundPercent} from "./format";
import {computeFigure, hasLayout} from "./layout";
import {View} from "./view";
import {barFigure} from "./bars";

function answer(overlapped: Row[], rows: Row[], ring: number): string {
  const real = rows.filter((row) => row.variant !== "ideal");
  const best = real.reduce((a, b) => (b.phases_ms.step < a.phases_ms.step ? b : a));
  const repaired = overlapped.filter((row) => row.repaired !== null && row.repaired > 0).map((row) => `${method(row)} repairs ${percent(row.repaired!)} of it`);
  const worse = overlapped.filter((row) => row.repaired !== null && row.repaired < 0).map(method);
  if (worse.length > 0) repaired.push(`${list(worse)} make${worse.length > 1 ? "" : "s"} it worse`);
  const slower = `Overlapped ring makes backward ${percent(ring)} slower`;
  const repair = repaired.length > 0 && repaired.length < 5 ? `; ${list(repaired)}` : "";
  return `${slower}${repair}; the fastest step is ${best.variant === "sequential" ? "sequential " : ""}${method(best)}'s, ${milliseconds(best.phases_ms.step)}.`;
}

export function compareView(result: Compare, counters: Counters[]): View {
  const rows = result.rows;
  const overlapped = rows.filter((row) => row.variant === "overlap");
  const names = overlapped.map(method);
  const slow = (of: Row[]) => names.map((name) => of.find((row) => method(row) === name)?.backward_slowdown ?? null);
  const fastest = overlapped.reduce((a, b) => (b.phases_ms.step < a.phases_ms.step ? b : a));
  const shown = [...new Set([overlapped[0], fastest])];
  return {
    title: `Ways to reduce: ${where(rows[0])}`,
    answer: answer(overlapped, rows, result.ring_slowdown),
    warnings: [],
    figures: [
      barFigure({
        id: "slowdown",
        title: "Slow-down of backward by algorithm",
        caption: `How much longer all of backward takes beside communication than alone${rows.some(hasLayout) ? "; what it waits for is part of it" : ""}.`,
        groups: names,
        series: [{name: "overlapped", values: slow(overlapped)}],
        show: percent,
        axis: roundPercent,
        unit: "slow-down",
        byGroup: true,
      }),
      ...(overlapped.some((row) => row.repaired !== null)
        ? [
            barFigure({
              id: "repaired",
              title: "What is repaired",
              caption: "The part of overlapped ring's slow-down that is gone; below 0 it is worse than ring.",
              groups: names,
              series: [{name: "repaired", values: overlapped.map((row) => row.repaired)}],
              show: percent,
              axis: roundPercent,
              unit: "",
              byGroup: true,
            }),
          ]
        : []),
      breakdown(rows.map((step) => ({name: `${method(step)}, ${step.variant}`, step}))),
      ...(rows.some(hasLayout) && rows[0].parallel?.pp === 1 ? [computeFigure(rows.map((step) => ({name: `${method(step)}, ${step.variant}`, step})))] : []),
      ...shown.flatMap((step, i) => {
        const name = `${method(step)}, overlapped`;
        const recorded = counters.find((c) => rows[c.row] === step);
        return [...timelineOf({name, step}, `timeline-${i}`), ...countersOf(name, recorded, step.last_pass_ms?.end, `counters-${i}`)];
      }),
    ],
    facts: [...stepFacts(rows[0]), ["samples/s", rows.map((row) => `${method(row)} ${row.variant} ${digits(row.samples_per_s)}`).join(", ")]],
  };
}
