// By size, how much faster each algorithm is than the first, shaded in the colour of the one that wins.
import type {LineSeriesOption} from "echarts";
import {digits, list, microseconds, size} from "./format";
import {grid, place, sizeAxis, tip, valueAxis} from "./axes";
import {Figure} from "./figure";
import {stylesOf} from "./methods";

export interface Timed {
  name: string;
  time_us: number[];
}
export interface Window {
  id: string;
  where: string;
  sizes: number[];
  /** The first is what the others are measured against. */
  methods: Timed[];
}

/** Neighbouring sizes, as indices, at which the same methods are fastest: one, or several that are equal. */
export interface Span {
  from: number;
  to: number;
  winners: number[];
}
/** Times that differ by less than this share are equal. */
const kEqual = 0.01;

export function spansOf(window: Window): Span[] {
  const spans: Span[] = [];
  window.sizes.forEach((_, i) => {
    const least = Math.min(...window.methods.map((m) => m.time_us[i]));
    const winners = window.methods.flatMap((m, k) => (m.time_us[i] <= least * (1 + kEqual) ? [k] : []));
    const last = spans[spans.length - 1];
    if (last !== undefined && last.winners.join() === winners.join()) last.to = i;
    else spans.push({from: i, to: i, winners});
  });
  return spans;
}

const names = (window: Window, span: Span): string => list(span.winners.map((k) => window.methods[k].name));

export function winsInWords(window: Window): string {
  const spans = spansOf(window);
  const said = spans.map((s) => {
    const [from, to] = [size(window.sizes[s.from]), size(window.sizes[s.to])];
    return `${s.from === s.to ? `at ${from}` : `from ${from} to ${to}`} ${names(window, s)}`;
  });
  return `fastest: ${spans.length === 1 ? `${names(window, spans[0])}, at all sizes` : said.join("; ")}`;
}

export function windowFigure(window: Window): Figure {
  const [first, ...others] = window.methods;
  const xs = window.sizes.map(place);
  // A size stands for the sizes around it, up to half way to its neighbours.
  const edge = (i: number, side: -1 | 1) => {
    const other = xs[i + side];
    return other === undefined ? xs[i] : (xs[i] + other) / 2;
  };
  const styles = stylesOf(window.methods.map((m) => m.name));
  const ratio = (m: Timed, i: number) => first.time_us[i] / m.time_us[i];
  return {
    id: window.id,
    title: `Speed against ${first.name} by size, ${window.where}`,
    caption: `The time of ${first.name} over that of each other; above 1 it is faster. Shaded in its colour, the ${winsInWords(window)}.`,
    description: `One line per algorithm; ${winsInWords(window)}.`,
    height: 340,
    zoom: false,
    legend: others.map((m, i) => ({name: m.name, colour: styles[i + 1].colour, symbol: styles[i + 1].symbol})),
    option: (theme, narrow) => ({
      grid: grid(narrow),
      xAxis: sizeAxis(theme, window.sizes, narrow),
      yAxis: {...valueAxis(theme, `times as fast as ${first.name}`), type: "log", logBase: 2, axisLabel: {color: theme.soft, formatter: (v: number) => digits(v)}},
      tooltip: {
        trigger: "axis",
        formatter: (params) => {
          const points = Array.isArray(params) ? params : [params];
          const i = points[0]?.dataIndex ?? 0;
          return tip(size(window.sizes[i]), [
            [null, `${first.name}: ${microseconds(first.time_us[i])}`],
            ...others.map((m, k): [string, string] => [styles[k + 1].colour, `${m.name}: ${microseconds(m.time_us[i])}, ${digits(ratio(m, i))} times as fast`]),
          ]);
        },
      },
      series: [
        ...others.map(
          (m, k): LineSeriesOption => ({
            type: "line",
            name: m.name,
            symbol: styles[k + 1].symbol,
            symbolSize: 8,
            itemStyle: {color: styles[k + 1].colour},
            lineStyle: {color: styles[k + 1].colour, width: 2, type: styles[k + 1].dash},
            data: xs.map((x, i) => [x, ratio(m, i)]),
          }),
        ),
        {
          // A line of its own, so that hiding an algorithm does not hide what is common to all.
          type: "line",
          name: "equal",
          symbol: "none",
          data: [],
          markLine: {
            silent: true,
            symbol: "none",
            label: {position: "insideStartTop", formatter: first.name, color: theme.soft},
            lineStyle: {color: theme.soft, type: "dashed", width: 1.5},
            data: [{yAxis: 1}],
          },
          markArea: {
            silent: true,
            data: spansOf(window).map((s) => [
              {
                xAxis: edge(s.from, -1),
                itemStyle: s.winners.length > 1 ? {color: theme.shade} : {color: styles[s.winners[0]].colour, opacity: 0.1},
                label: {show: true, position: "insideTop" as const, color: theme.text, fontSize: 11, lineHeight: 13, width: narrow ? 70 : 150, overflow: "break" as const, formatter: narrow && s.from === s.to ? "" : s.winners.map((k) => window.methods[k].name).join(" =\n")},
              },
              {xAxis: edge(s.to, 1)},
            ]),
          },
        },
      ],
    }),
    table: {
      columns: [
        {name: "bytes", show: size},
        ...window.methods.map((m) => ({name: `${m.name} us`})),
        ...others.map((m) => ({name: `${first.name} / ${m.name}`})),
      ],
      rows: window.sizes.map((bytes, i) => [bytes, ...window.methods.map((m) => m.time_us[i]), ...others.map((m) => ratio(m, i))]),
    },
  };
}
