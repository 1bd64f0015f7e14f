// The page of `infold validate`: how far each published figure is missed, and where it comes from.
import type {ScatterSeriesOption} from "echarts";
import {Validate, ValidateRow} from "./payload";
import {Figure} from "./figure";
import {View} from "./view";
import {digits, percent, roundPercent} from "./format";
import {grid, namesAxis, tip, valueAxis} from "./axes";
import {rangeSeries} from "./ranges";

const kAccepted = "accepted";
const kKinds = [
  {name: "within", colour: "#0072B2", symbol: "circle", of: (r: ValidateRow) => r.within && !r.calibrated},
  {name: "within, calibrated on it", colour: "#56B4E9", symbol: "emptyCircle", of: (r: ValidateRow) => r.within && r.calibrated},
  {name: "missed", colour: "#D55E00", symbol: "diamond", of: (r: ValidateRow) => !r.within},
];
const kAcceptedColour = "#AEB6BF";

function errors(rows: ValidateRow[]): Figure {
  const drawn = rows.filter((r) => r.error !== null);
  const names = drawn.map((r) => r.id);
  // Zero is seen, but not in the middle: one figure that is far off to one side must not squeeze all others.
  const lowest = Math.min(-0.1, ...drawn.flatMap((r) => [r.error!, -r.accept]));
  const highest = Math.max(0.1, ...drawn.flatMap((r) => [r.error!, r.accept]));
  const intervalOf = (narrow: boolean) => [0.1, 0.2, 0.5, 1, 2, 5].find((i) => (highest - lowest) / i <= (narrow ? 4 : 16)) ?? (highest - lowest) / 4;
  const ends = (narrow: boolean) => {
    const interval = intervalOf(narrow);
    return {interval, min: Math.floor(lowest / interval + 1e-9) * interval, max: Math.ceil(highest / interval - 1e-9) * interval};
  };
  const about = (r: ValidateRow): HTMLElement =>
    tip(r.quantity, [
      [null, `published: ${digits(r.published)} ${r.unit}`],
      [null, `simulated: ${digits(r.simulated!)} ${r.unit} (${r.error! > 0 ? "+" : ""}${percent(r.error!)})`],
      [null, `accepted: ${percent(r.accept)}`],
      [null, r.source],
    ]);
  return {
    id: "errors",
    title: "Error of each published figure",
    caption:
      "Simulated against published: right of zero it is larger. The bar is what is accepted for that figure. A constant was chosen looking at the calibrated ones, so they do not judge.",
    description: drawn.map((r) => `${r.quantity}: ${percent(r.error!)}, ${r.within ? "within" : "missed"}`).join("; "),
    height: 70 + 20 * drawn.length,
    zoom: false,
    legend: [{name: kAccepted, colour: kAcceptedColour, symbol: "rect"}, ...kKinds.filter((k) => drawn.some(k.of)).map(({name, colour, symbol}) => ({name, colour, symbol}))],
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: 8},
      xAxis: {...valueAxis(theme, "error"), ...ends(narrow), nameLocation: "middle", nameGap: 26, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true, formatter: roundPercent}},
      yAxis: {...namesAxis(theme, names, narrow), inverse: true, axisLabel: {color: theme.text, interval: 0, fontSize: narrow ? 10 : 12}},
      tooltip: {trigger: "item"},
      series: [
        {
          markLine: {silent: true, symbol: "none", label: {show: false}, lineStyle: {color: theme.soft, type: "dashed", width: 1.5}, data: [{xAxis: 0}]},
          ...rangeSeries(kAccepted, kAcceptedColour, drawn.map((r, row) => ({row, from: -r.accept, to: r.accept})), 0.5),
          tooltip: {formatter: (p) => about(drawn[(p as {dataIndex: number}).dataIndex])},
        },
        ...kKinds.map((kind): ScatterSeriesOption => {
          const mine = drawn.filter(kind.of);
          return {
            type: "scatter",
            name: kind.name,
            z: 3,
            symbol: kind.symbol,
            symbolSize: kind.name === "missed" ? 12 : 10,
            itemStyle: {color: kind.colour},
            tooltip: {formatter: (p) => about(mine[(p as {dataIndex: number}).dataIndex])},
            data: mine.map((r) => [r.error!, drawn.indexOf(r)]),
          };
        }),
      ],
    }),
    table: {
      columns: [
        {name: "id"},
        {name: "quantity", prose: true},
        {name: "unit"},
        {name: "published"},
        {name: "simulated"},
        {name: "error", show: percent},
        {name: "accepted", show: percent},
        {name: ""},
        {name: "source", prose: true},
        {name: "command", prose: true},
      ],
      rows: rows.map((r) => [r.id, r.quantity, r.unit, r.published, r.simulated, r.error, r.accept, `${r.within ? "within" : r.error === null ? "failed" : "missed"}${r.calibrated ? ", calibrated" : ""}`, r.source, `infold ${r.command}`]),
    },
  };
}

export function validateView(v: Validate): View {
  const {rows, within, failed, geomean_abs_error} = v.summary;
  const missed = v.rows.filter((r) => !r.within);
  const judging = v.rows.filter((r) => !r.calibrated);
  const worst = missed.filter((r) => r.error !== null).sort((a, b) => Math.abs(b.error!) - Math.abs(a.error!))[0];
  const tail = worst !== undefined ? ` The largest miss: ${worst.quantity}, ${worst.error! > 0 ? "+" : ""}${percent(worst.error!)}.` : "";
  return {
    title: "Simulated against published",
    answer: `${within} of ${rows + failed} published figures come out within what is accepted, with a geometric mean error of ${percent(geomean_abs_error)}.${tail}`,
    warnings: failed > 0 ? [`${failed} could not be run.`] : [],
    figures: [errors(v.rows)],
    facts: [
      ["figures", `${v.rows.length}, of which ${judging.length} judge (${judging.filter((r) => r.within).length} within)`],
      ...missed.map((r): [string, string] => [r.id, r.missing ?? "missed, and not explained"]),
    ],
  };
}
