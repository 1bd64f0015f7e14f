// The page of `infold study`: slow-down and repair by case and algorithm, and the size windows.
import {Row, Study} from "./payload";
import {Figure} from "./figure";
import {View} from "./view";
import {valuesFigure} from "./dots";
import {tick} from "./axes";
import {windowFigure, winsInWords} from "./size_window";
import {breakdown, method, where} from "./steps";
import {capital, list, percent, roundPercent} from "./format";

const wholePercent = (share: number): string => `${Math.round(share * 100)} %`;

/** ", fsdp, tp 2", or nothing where gradients are all that is communicated. */
function layoutName(row: Row): string {
  const axes = Object.entries(row.parallel ?? {}).filter(([axis, ranks]) => axis !== "dp" && axis !== "sync" && ranks !== 1);
  if (axes.length === 0 && row.sync === "ddp") return "";
  return [row.sync, ...axes.map(([axis, ranks]) => `${axis} ${ranks}`)].map((one) => `, ${one}`).join("");
}
const caseName = (row: Row): string => `${row.model}, batch ${row.batch}, ${row.gpus} GPUs of ${row.system}${layoutName(row)}`;
const span = (values: number[], show: (v: number) => string): string => {
  const [low, high] = [show(Math.min(...values)), show(Math.max(...values))];
  return low === high ? low : `${low.replace(/ %$/, "")} to ${high}`;
};

/** What overlap costs, and what the best method repairs of it, where and counted as: all of backward, in both halves of the sentence. */
function costs(s: Study, overlapped: Row[][], names: string[]): string {
  const slow = overlapped.map((rows) => rows[0].backward_slowdown);
  const worst = slow.indexOf(Math.max(...slow));
  const cost = `Beside ${names[0]}, backward takes ${span(slow, percent)} longer than alone${s.cases.length > 1 ? ` (most: ${caseName(overlapped[worst][0])})` : ""}`;
  // Where communication is light there is nothing to repair, and the share says nothing.
  const heavy = overlapped.filter((_, i) => s.cases[i].communication_heavy && slow[i] > 0);
  const repairs = names.slice(1).map((name) => {
    const rows = heavy.flatMap((all) => all.filter((row) => method(row) === name && row.repaired !== null));
    return {name, rows, mean: rows.reduce((sum, row) => sum + row.repaired!, 0) / rows.length};
  });
  const best = repairs.filter((r) => r.rows.length > 0 && 2 * r.rows.length >= heavy.length).sort((a, b) => b.mean - a.mean)[0];
  if (best === undefined || best.mean <= 0) return cost;
  const least = best.rows.reduce((a, b) => (b.repaired! < a.repaired! ? b : a));
  const most = best.rows.reduce((a, b) => (b.repaired! > a.repaired! ? b : a));
  const where = best.rows.length > 1 ? ` (most: ${caseName(most)}; least: ${caseName(least)})` : "";
  return `${cost}. With ${best.name} it takes ${span(best.rows.map((row) => row.backward_slowdown), percent)} longer: where communication is heavy, ${span(best.rows.map((row) => row.repaired!), wholePercent)} of the slow-down is repaired${where}`;
}

export function studyView(s: Study): View {
  const overlapped = s.cases.map((c) => c.rows.filter((row) => row.variant === "overlap"));
  const names = [...new Set(overlapped.flat().map(method))];
  const groups = s.cases.map((c) => caseName(c.rows[0]));
  const by = (of: (row: Row) => number | null | undefined, skipFirst = false) =>
    names.slice(skipFirst ? 1 : 0).map((name) => ({
      name,
      values: overlapped.map((rows) => {
        const row = rows.find((r) => method(r) === name);
        return (row && of(row)) ?? null;
      }),
    }));
  const windows = s.windows.map((w, i) => ({
    id: `window-${i}`,
    where: `${w.gpus} GPUs of ${w.system}`,
    sizes: w.bytes,
    methods: w.methods.map((m) => ({name: m.method, time_us: m.time_us})),
  }));
  const figures: Figure[] = [];
  if (s.cases.length > 0) {
    figures.push(
      valuesFigure({
        id: "slowdown",
        title: "What overlapping costs backward",
        caption: "How much longer all of backward takes than alone, while gradients are reduced beside it, by case and algorithm.",
        groups,
        series: by((row) => row.backward_slowdown),
        show: percent,
        axis: roundPercent,
        unit: "slow-down",
      }),
    );
    const repaired = by((row) => row.repaired, true);
    if (repaired.some((one) => one.values.some((v) => v !== null)))
      figures.push(
        valuesFigure({
          id: "repaired",
          title: `What is repaired of the slow-down by ${names[0]}`,
          caption: "The part of the slow-down above that is gone; below 0 it is worse.",
          groups,
          series: repaired,
          show: percent,
          axis: roundPercent,
          unit: "repaired",
          reference: {value: 0, name: ""},
        }),
      );
    figures.push(
      valuesFigure({
        id: "speedup",
        title: "Whole step against reducing after backward",
        caption: `How many times as fast a step is as with ${names[0]} after backward. Right of the line, overlapping pays.`,
        groups,
        series: by((row) => row.speedup_vs_sequential),
        show: (v) => `${v.toFixed(2)}x`,
        axis: (v) => `${tick(v)}x`,
        anywhere: true,
        unit: "speed-up",
        reference: {value: 1, name: "1.0x"},
      }),
      valuesFigure({
        id: "beside",
        title: "The same slow-down, counted only while a collective runs",
        caption: "How much longer the part of backward takes beside which a collective runs. It tells the pressure; the first figure tells what it costs.",
        groups,
        series: by((row) => row.slowdown_while_communicating),
        show: percent,
        axis: roundPercent,
        unit: "slow-down",
      }),
      ...s.cases.map((c, i) =>
        breakdown(
          c.rows.map((step) => ({name: step.variant === "overlap" ? method(step) : `${method(step)}, ${step.variant}`, step})),
          {id: `phases-${i}`, name: groups[i]},
        ),
      ),
    );
  }
  figures.push(...windows.map(windowFigure));
  const refused = s.cases.flatMap((c) => c.refused.map((r) => `${r.method} on ${c.rows[0].system}: ${r.why}`));
  const sentences = [...(s.cases.length > 0 ? [costs(s, overlapped, names)] : []), ...windows.map((w) => capital(`${winsInWords(w)} (${w.where})`))];
  return {
    title: `Study: ${s.study}`,
    answer: sentences.map((one) => `${one}.`).join(" "),
    warnings: [],
    figures,
    facts: [
      ["cases", list(s.cases.map((c) => where(c.rows[0])))],
      ...(refused.length > 0 ? ([["not on these machines", [...new Set(refused)].join("; ")]] as [string, string][]) : []),
    ],
  };
}
