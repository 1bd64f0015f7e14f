// The page of `infold study`: slow-down and repair by case and algorithm, and the size windows.
import {Row, Study} from "./payload";
import {Figure} from "./figure";
import {View} from "./view";
import {valuesFigure} from "./dots";
import {breakdown, method, where} from "./steps";
import {list, percent, roundPercent} from "./format";
import {tick} from "./axes";
import {windowFigure, winsInWords} from "./size_window";

export function studyView(s: Study): View {
  const overlapped = s.cases.map((c) => c.rows.filter((row) => row.variant === "overlap"));
  const names = [...new Set(overlapped.flat().map(method))];
  const groups = s.cases.map((c) => `${c.rows[0].model}, ${c.rows[0].system}`);
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
        title: "Slow-down of backward beside a collective",
        caption: "While a collective runs, by machine, model and algorithm: how much longer that part of backward takes than alone.",
        groups,
        series: by((row) => row.slowdown_while_communicating),
        show: percent,
        axis: roundPercent,
        unit: "slow-down",
        colours: names,
      }),
    );
    const repaired = by((row) => row.repaired, true);
    if (repaired.some((one) => one.values.some((v) => v !== null)))
      figures.push(
        valuesFigure({
          id: "repaired",
          title: `What is repaired of ${names[0]}'s slow-down`,
          caption: "The part that is gone; below 0 it is worse.",
          groups,
          series: repaired,
          show: percent,
          axis: roundPercent,
          unit: "",
          colours: names,
        }),
      );
    figures.push(
      valuesFigure({
        id: "speedup",
        title: "Whole step against reducing after backward",
        caption: "Above 1, overlapping pays.",
        groups,
        series: by((row) => row.speedup_vs_sequential),
        show: (v) => `${v.toFixed(2)}x`,
        axis: (v) => `${tick(v)}x`,
        anywhere: true,
        unit: "",
        colours: names,
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
  const pays = s.cases.filter((c) => c.fastest !== "sequential").length;
  const sentence = [
    ...(s.cases.length > 0
      ? [`while ${names[0]} runs beside it, backward is ${percent(s.mean_slowdown_while_communicating)} slower on the mean over ${s.cases.length === 1 ? "one case" : `${s.cases.length} cases`}`, `overlapping pays in ${pays} of ${s.cases.length}`]
      : []),
    ...windows.map((w) => `${winsInWords(w)} (${w.where})`),
  ].join("; ");
  return {
    title: `Study: ${s.study}`,
    answer: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
    warnings: [],
    figures,
    facts: [
      ["cases", list(s.cases.map((c) => where(c.rows[0])))],
      ...(refused.length > 0 ? ([["not on these machines", [...new Set(refused)].join("; ")]] as [string, string][]) : []),
    ],
  };
}
