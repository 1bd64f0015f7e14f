// By size, how much faster each algorithm is than the first, shaded where one of them wins.
import type {LineSeriesOption} from "echarts";
import {digits, list, microseconds, size} from "./format";
import {grid, place, sizeAxis, tip, valueAxis} from "./axes";
import {Figure} from "./figure";
import {colour, dash, symbol} from "./theme";

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

interface Span {
  from: number;
  to: number;
}

/** Sizes at which some other method beats the first, as ranges of indices. */
export function wins(window: Window): Span[] {
  const spans: Span[] = [];
  window.sizes.forEach((_, i) => {
    if (!window.methods.slice(1).some((m) => m.time_us[i] < window.methods[0].time_us[i])) return;
    const last = spans[spans.length - 1];
    if (last !== undefined && last.to === i - 1) last.to = i;
    else spans.push({from: i, to: i});
  });
  return spans;
}

export function winsInWords(window: Window): string {
  const spans = wins(window).map((s) =>
    s.from === s.to ? `at ${size(window.sizes[s.from])}` : `from ${size(window.sizes[s.from])} to ${size(window.sizes[s.to])}`,
  );
  const first = window.methods[0].name;
  return spans.length > 0 ? `another algorithm beats ${first} ${list(spans)}` : `nothing beats ${first} at these sizes`;
}

export function windowFigure(window: Window): Figure {
  const [first, ...others] = window.methods;
  const xs = window.sizes.map(place);
  // A size stands for the sizes around it, up to half way to its neighbours.
  const edge = (i: number, side: -1 | 1) => {
    const other = xs[i + side];
    return other === undefined ? xs[i] : (xs[i] + other) / 2;
  };
  const ratio = (m: Timed, i: number) => first.time_us[i] / m.time_us[i];
  return {
    id: window.id,
    title: `Speed against ${first.name} by size, ${window.where}`,
    caption: `${first.name}'s time over each one's; above 1 it is faster. Shaded: ${winsInWords(window)}.`,
    description: `One line an algorithm; ${winsInWords(window)}.`,
    height: 340,
    zoom: false,
    legend: others.map((m, i) => ({name: m.name, colour: colour(i + 1), symbol: symbol(i + 1)})),
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
            ...others.map((m, k): [string, string] => [colour(k + 1), `${m.name}: ${microseconds(m.time_us[i])}, ${digits(ratio(m, i))} times as fast`]),
          ]);
        },
      },
      series: [
        ...others.map(
          (m, k): LineSeriesOption => ({
            type: "line",
            name: m.name,
            symbol: symbol(k + 1),
            symbolSize: 8,
            itemStyle: {color: colour(k + 1)},
            lineStyle: {color: colour(k + 1), width: 2, type: dash(k + 1)},
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
            label: {show: false},
            lineStyle: {color: theme.soft, type: "dashed"},
            data: [{yAxis: 1}],
          },
          markArea: {
            silent: true,
            itemStyle: {color: theme.shade},
            data: wins(window).map((s) => [{xAxis: edge(s.from, -1)}, {xAxis: edge(s.to, 1)}]),
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
