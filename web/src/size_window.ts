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

/** Neighbouring sizes, as indices, at which the same method is fastest. */
export interface Span {
  from: number;
  to: number;
  winner: number;
}

export function spansOf(window: Window): Span[] {
  const spans: Span[] = [];
  window.sizes.forEach((_, i) => {
    const winner = window.methods.reduce((best, m, k) => (m.time_us[i] < window.methods[best].time_us[i] ? k : best), 0);
    const last = spans[spans.length - 1];
    if (last !== undefined && last.winner === winner) last.to = i;
    else spans.push({from: i, to: i, winner});
  });
  return spans;
}

export function winsInWords(window: Window): string {
  const spans = spansOf(window).map((s) => {
    const [from, to] = [size(window.sizes[s.from]), size(window.sizes[s.to])];
    return `${window.methods[s.winner].name} ${s.from === s.to ? `at ${from}` : `from ${from} to ${to}`}`;
  });
  return spans.length === 1 ? `${window.methods[spansOf(window)[0].winner].name} is fastest at all sizes` : `fastest is ${list(spans)}`;
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
    caption: `The time of ${first.name} over that of each other; above 1 it is faster. Shaded in the colour of the fastest: ${winsInWords(window)}.`,
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
                itemStyle: {color: styles[s.winner].colour, opacity: 0.1},
                label: {show: true, position: "insideTop" as const, color: theme.text, fontSize: 11, formatter: narrow && s.from === s.to ? "" : `${window.methods[s.winner].name}${s.from === s.to ? "" : " is fastest"}`},
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
