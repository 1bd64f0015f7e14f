// The page of `infold doctor`: measured and expected times by size, with the cause that fits best, and how well each fits.
import type {LineSeriesOption} from "echarts";
import {Doctor, DoctorRow} from "./payload";
import {grid, place, sizeAxis, tip, valueAxis} from "./axes";
import {barFigure} from "./bars";
import {digits, microseconds, percent, roundPercent, size} from "./format";
import {Figure} from "./figure";
import {stylesOf} from "./methods";
import {View} from "./view";

interface Curve {
  name: string;
  of: (row: DoctorRow) => number | null;
}

/** Rows of one collective on as many GPUs. */
function runs(rows: DoctorRow[]): DoctorRow[][] {
  const found: DoctorRow[][] = [];
  for (const row of rows) {
    const last = found[found.length - 1];
    const before = last?.[last.length - 1];
    if (before !== undefined && before.collective === row.collective && before.gpus === row.gpus && before.bytes < row.bytes) last.push(row);
    else found.push([row]);
  }
  return found;
}

function best(result: Doctor): string {
  const first = result.causes[0];
  return first === undefined ? "best cause" : `${first.cause}, ${first.degree}`;
}

/** Times over what is expected, so that a part of it shows at all sizes. */
function curves(rows: DoctorRow[], result: Doctor, index: number): Figure {
  const all: Curve[] = [
    {name: "measured", of: (row) => row.measured_us},
    {name: "up to here as expected", of: (row) => row.allowed_us},
    ...(rows.some((row) => row.best_cause_us !== null) ? [{name: best(result), of: (row: DoctorRow) => row.best_cause_us}] : []),
  ];
  const styles = stylesOf(all.map((curve) => curve.name));
  const sizes = rows.map((row) => row.bytes);
  const ratio = (curve: Curve, row: DoctorRow): number | null => {
    const us = curve.of(row);
    return us === null ? null : us / row.expected_us;
  };
  const slow = rows.filter((row) => row.measured_us > row.allowed_us).length;
  return {
    id: `curve-${index}`,
    title: `${rows[0].collective} on ${rows[0].gpus} GPUs: time over what is expected`,
    caption: "1 is the simulated machine as it should be. Between 1 and the line of what is allowed, a difference may be the model's own error.",
    description: `${slow} of ${rows.length} sizes are slower than what is allowed`,
    height: 340,
    zoom: false,
    legend: all.map((curve, i) => ({name: curve.name, colour: styles[i].colour, symbol: styles[i].symbol})),
    option: (theme, narrow) => ({
      grid: grid(narrow),
      xAxis: sizeAxis(theme, sizes, narrow),
      yAxis: {...valueAxis(theme, "times what is expected"), type: "log", logBase: 2, axisLabel: {color: theme.soft, formatter: (v: number) => digits(v)}},
      tooltip: {
        trigger: "axis",
        formatter: (params) => {
          const points = Array.isArray(params) ? params : [params];
          const at = (points[0]?.value as number[] | undefined)?.[0] ?? 0;
          const row = rows.find((r) => place(r.bytes) === at);
          if (row === undefined) return "";
          return tip(size(row.bytes), [
            [null, `expected: ${microseconds(row.expected_us)} (${row.algo}, ${row.proto})`],
            ...all.flatMap((curve, i): [string, string][] => {
              const us = curve.of(row);
              return us === null ? [] : [[styles[i].colour, `${curve.name}: ${microseconds(us)}`]];
            }),
          ]);
        },
      },
      series: all.map(
        (curve, i): LineSeriesOption => ({
          type: "line",
          name: curve.name,
          symbol: styles[i].symbol,
          symbolSize: 8,
          itemStyle: {color: styles[i].colour},
          lineStyle: {color: styles[i].colour, width: 2, type: styles[i].dash},
          data: rows.flatMap((row) => {
            const value = ratio(curve, row);
            return value === null ? [] : [[place(row.bytes), value]];
          }),
        }),
      ),
    }),
    table: {
      columns: [{name: "bytes", show: size}, {name: "expected us"}, ...all.map((curve) => ({name: `${curve.name} us`})), {name: "algo"}, {name: "proto"}],
      rows: rows.map((row) => [row.bytes, row.expected_us, ...all.map((curve) => curve.of(row)), row.algo, row.proto]),
    },
  };
}

function answer(result: Doctor): string {
  const first = result.causes[0];
  if (result.verdict === "as-expected") return `The machine gives what it should, as far as the model is exact: ${percent(result.fit)} off on average.`;
  if (result.verdict === "unclear" || first === undefined) return "The machine is slower than it should be, and no cause explains it clearly better than the others.";
  return `Slower than it should be, because ${first.about} (${first.degree}): with it the simulated machine is ${percent(first.fit)} off the log, without ${percent(result.fit)}.`;
}

export function doctorView(result: Doctor): View {
  const facts: [string, string][] = [["system", result.system], ["verdict", result.verdict]];
  if (result.check !== null) facts.push(["check", result.check]);
  if (result.same_as.length > 0) facts.push(["this log cannot tell it from", result.same_as.join(", ")]);
  return {
    title: `Doctor: ${result.system}`,
    answer: answer(result),
    warnings: [],
    figures: [
      ...runs(result.rows).map((rows, i) => curves(rows, result, i)),
      ...(result.causes.length > 0
        ? [
            barFigure({
              id: "causes",
              title: "How far each cause is off the log",
              caption: "The mean distance of simulated from measured times, with the degree of each cause that fits best; no size counts more than a factor of two.",
              groups: [...result.causes.map((c) => `${c.cause} (${c.degree})`), "no cause"],
              series: [{name: "off", values: [...result.causes.map((c) => c.fit), result.fit]}],
              show: percent,
              axis: roundPercent,
              unit: "",
              byGroup: true,
            }),
          ]
        : []),
    ],
    facts: [...facts, ...result.notes.map((note): [string, string] => ["note", note])],
  };
}
