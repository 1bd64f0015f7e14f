// The page of `infold sweep`: how far the results go, a chart to choose in, what matters most, and all rows.
import {Sweep} from "./payload";
import {SweepData, SweepRow, measureOf, sweepData, whereOf} from "./sweep_data";
import {digits, percent, roundPercent} from "./format";
import {Figure} from "./figure";
import {View} from "./view";
import {barFigure} from "./bars";
import {sweepFigure} from "./sweep_chart";
import {heatFigures} from "./sweep_heat";
import {fastestFigures, fastestInWords} from "./sweep_fastest";

function extremes(data: SweepData, measure: string): {low: SweepRow; high: SweepRow} | undefined {
  const rows = data.rows.filter((row) => measureOf(row, measure) !== null);
  if (rows.length === 0) return undefined;
  const value = (row: SweepRow) => measureOf(row, measure)!;
  return {low: rows.reduce((a, b) => (value(b) < value(a) ? b : a)), high: rows.reduce((a, b) => (value(b) > value(a) ? b : a))};
}

function answer(sweep: Sweep, data: SweepData): string {
  const counted = `${sweep.points} point${sweep.points === 1 ? "" : "s"}`;
  const found = data.measures.length > 0 ? extremes(data, data.measures[0].column) : undefined;
  if (found === undefined) return `${sweep.name}: none of ${counted} has a result.`;
  const {column, name} = data.measures[0];
  const low = measureOf(found.low, column)!;
  const high = measureOf(found.high, column)!;
  if (low === high || data.dimensions.length === 0) return `${sweep.name}: ${name} is ${digits(low)} at all of ${counted}.`;
  const times = low > 0 ? `, ${digits(high / low)} times as much` : "";
  return `Over ${counted} ${name} goes from ${digits(low)} (${whereOf(data, found.low)}) to ${digits(high)} (${whereOf(data, found.high)})${times}.`;
}

/** For each thing that was varied: how far the mean over everything else moves with it. */
function mattering(data: SweepData): Figure[] {
  const measure = data.measures[0];
  if (data.dimensions.length < 2 || measure === undefined) return [];
  const spreads = data.dimensions.map((d, i) => {
    const sums = d.values.map(() => ({sum: 0, n: 0}));
    for (const row of data.rows) {
      const value = measureOf(row, measure.column);
      if (value === null) continue;
      sums[row.at[i]].sum += value;
      sums[row.at[i]].n += 1;
    }
    const means = sums.filter((s) => s.n > 0).map((s) => s.sum / s.n);
    const mean = means.reduce((a, b) => a + b, 0) / means.length;
    return mean === 0 ? 0 : (Math.max(...means) - Math.min(...means)) / Math.abs(mean);
  });
  return [
    barFigure({
      id: "matters",
      title: `What moves ${measure.name}`,
      caption: "For each thing that was varied: from the lowest to the highest mean over everything else, against the mean of all. Points without a result are left out.",
      groups: data.dimensions.map((d) => d.name),
      series: [{name: "spread", values: spreads}],
      show: percent,
      axis: roundPercent,
      unit: "",
      colours: ["spread"],
    }),
  ];
}

const kLongest = 12;

export function sweepView(sweep: Sweep): View {
  const data = sweepData(sweep);
  const said = (values: string[]) => (values.length > kLongest ? `${values.slice(0, kLongest - 2).join(", ")}, ... ${values[values.length - 1]} (${values.length})` : values.join(", "));
  const missing = sweep.rows.find((row) => row.status !== "done");
  const warnings = [
    [sweep.refused, "were refused"],
    [sweep.failed, "failed"],
  ]
    .filter(([n]) => (n as number) > 0)
    .map(([n, what]) => `${n} of ${sweep.points} points ${what}; the first that has no result: ${String(missing?.message ?? "")}`);
  return {
    title: `Sweep ${sweep.name}`,
    answer: (sweep.winners ? fastestInWords(data) : undefined) ?? answer(sweep, data),
    warnings,
    figures: data.dimensions.length > 0 && data.measures.length > 0 ? [...(sweep.winners ? fastestFigures(data) : []), sweepFigure(data), ...heatFigures(data), ...mattering(data)] : [],
    facts: [
      ...(sweep.summary !== "" ? ([["asked", sweep.summary]] as [string, string][]) : []),
      ["command at each point", `infold ${sweep.of}`],
      ...data.dimensions.map((d): [string, string] => [d.name, said(d.values)]),
      ["points", `${sweep.points}: ${sweep.done} done, ${sweep.refused} refused, ${sweep.failed} failed`],
      ["all columns", `${sweep.csv}, ${sweep.database}`],
    ],
  };
}
