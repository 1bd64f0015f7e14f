// The page of `infold explain`: what makes a step longer, cause by cause, as a waterfall, and the same for backward.
import {CausePart, Explain} from "./payload";
import {breakdown, stepFacts, timelineOf, where} from "./steps";
import {grid, namesAxis, tip, valueAxis} from "./axes";
import {Figure} from "./figure";
import {View} from "./view";
import {percent, roundPercent} from "./format";
import {rangeSeries} from "./ranges";

const kMeaning: Record<string, string> = {
  sm: "SMs held by collectives",
  hbm: "memory bandwidth",
  l2: "cache",
  link: "links",
  skew: "waiting for late GPUs",
  wait: "waiting for communication",
  copy: "copying into and out of buffers",
  bubble: "stages that wait for each other",
  interaction: "all of them together",
};

/** Less than this is shown as 0.0 %. */
const kLeast = 0.0005;

/** `whole`: what is slower, and by how much. */
interface Slowdown {
  id: string;
  title: string;
  whole: string;
  by: number;
  causes: CausePart[];
}

function waterfall(s: Slowdown): Figure {
  const shown = s.causes.filter((c) => Math.abs(c.slowdown) >= kLeast);
  let at = 0;
  const steps = shown.map((c, row) => {
    const from = at;
    at += c.slowdown;
    return {row, from, to: at, by: c.slowdown};
  });
  const meaning = (c: CausePart): string => kMeaning[c.cause] ?? c.cause;
  const names = [...shown.map(meaning), s.whole];
  const total = {row: steps.length, from: 0, to: s.by, by: s.by};
  const all = [...steps, total];
  const kinds: [string, string, typeof all][] = [
    ["slows down", "#D55E00", steps.filter((c) => c.by >= 0)],
    ["speeds up", "#009E73", steps.filter((c) => c.by < 0)],
    ["whole", "#0072B2", [total]],
  ];
  return {
    id: s.id,
    title: s.title,
    caption:
      "Each cause is what the slow-down shrinks by when that sharing alone is switched off. Taking one away may leave another the bottleneck; the rest is what they do together. Causes of less than 0.05 % are among the values.",
    description: s.causes.map((c) => `${meaning(c)} ${percent(c.slowdown)}`).join("; "),
    height: 70 + 40 * names.length,
    zoom: false,
    legend: kinds.filter(([, , of]) => of.length > 0).map(([name, colour]) => ({name, colour, symbol: "rect"})),
    option: (theme, narrow) => ({
      grid: {...grid(narrow), top: 8, right: 72},
      xAxis: {...valueAxis(theme, "slow-down"), nameLocation: "middle", nameGap: 26, nameTextStyle: {color: theme.soft}, axisLabel: {color: theme.soft, hideOverlap: true, formatter: (v: number) => roundPercent(v)}},
      yAxis: {...namesAxis(theme, names, narrow), inverse: true},
      tooltip: {
        trigger: "item",
        formatter: (params) => {
          const [row] = (params as {value: number[]}).value;
          return tip(names[row], [[null, percent(all[row].by)]]);
        },
      },
      series: [
        ...kinds.map(([name, colour, of]) => rangeSeries(name, colour, of, 0.6)),
        {
          // Only its labels are seen: at the right end of each bar.
          type: "custom",
          name: "labels",
          silent: true,
          encode: {x: 0, y: 1},
          data: all.map((c) => [Math.max(c.from, c.to), c.row]),
          renderItem: (_, api) => {
            const [x, y] = api.coord([api.value(0), api.value(1)]);
            return {type: "text", x: x + 6, y, style: {text: percent(all[api.value(1) as number].by), fill: theme.text, fontSize: 12, verticalAlign: "middle"}};
          },
        },
      ],
    }),
    table: {
      columns: [{name: "cause"}, {name: "meaning"}, {name: "slow-down", show: percent}],
      rows: [...s.causes.map((c) => [c.cause, kMeaning[c.cause] ?? "", c.slowdown]), ["whole", s.whole, s.by]],
    },
  };
}

export function explainView(e: Explain): View {
  const step = {name: `${e.algo}, overlapped`, step: e};
  return {
    title: `Why a step takes longer: ${where(e)}`,
    answer: e.sentence,
    warnings: [],
    figures: [
      waterfall({id: "step-causes", title: "What makes the step longer", whole: "slow-down of the step", by: e.step_slowdown, causes: e.step_causes}),
      waterfall({id: "causes", title: "What slows backward down", whole: "slow-down of backward", by: e.backward_slowdown, causes: e.causes}),
      breakdown([step]),
      ...timelineOf(step),
    ],
    facts: [...stepFacts(e), ["reduced by", `${e.algo}${e.comm_sms !== undefined ? `, on ${e.comm_sms} SMs` : ""}`]],
  };
}
