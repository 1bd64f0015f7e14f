// The heat map of a sweep: which result, over which two things that were varied, with the rest held.
import {Choice, Figure} from "./figure";
import {SweepData, measureOf} from "./sweep_data";
import {digits} from "./format";
import {heatOption} from "./heat";

const kFewest = 3;

interface Picked {
  measure: number;
  across: number;
  down: number;
  held: number[];
}

function figureOf(data: SweepData, p: Picked): Figure {
  const [across, down] = [data.dimensions[p.across], data.dimensions[p.down]];
  const measure = data.measures[p.measure];
  const names = data.dimensions.map((d) => d.name);
  const cells = data.rows.flatMap((row) => {
    const value = measureOf(row, measure.column);
    if (value === null || row.at.some((v, i) => i !== p.across && i !== p.down && v !== p.held[i])) return [];
    return [{across: row.at[p.across], down: row.at[p.down], value}];
  });
  const held = data.dimensions.flatMap((d, i) => (i === p.across || i === p.down ? [] : [`${d.name} ${d.values[p.held[i]]}`]));
  const values = cells.map((c) => c.value);
  const range = values.length > 0 ? `Dark: ${digits(Math.min(...values))}; light: ${digits(Math.max(...values))}.` : "There is no value to draw.";
  const choices: Choice[] = [
    {label: "Result", options: data.measures.map((m) => m.name), chosen: p.measure},
    {label: "across", options: names, chosen: p.across},
    {label: "up", options: names, chosen: p.down},
    ...data.dimensions.map((d, i) => ({label: d.name, options: d.values, chosen: p.held[i], hidden: i === p.across || i === p.down})),
  ];
  return {
    id: "heat",
    title: `${measure.name} over ${across.name} and ${down.name}`,
    caption: `${range}${held.length > 0 ? ` At ${held.join(", ")}.` : ""}`,
    description: `${across.values.length} by ${down.values.length} cells. ${range}`,
    height: Math.min(90 + 34 * down.values.length, 620),
    zoom: false,
    legend: [],
    choices,
    choose: ([m, a, d, ...rest]) => {
      // One cannot be both: what was chosen last stays.
      const same = a === d;
      return figureOf(data, {measure: m, across: same && a === p.across ? p.down : a, down: same && a !== p.across ? p.across : d, held: rest});
    },
    option: (theme, narrow) => heatOption({across, down, cells}, theme, narrow),
    table: {
      columns: [{name: across.name}, {name: down.name}, {name: measure.name}],
      rows: cells.map((c) => [across.values[c.across], down.values[c.down], c.value]),
    },
  };
}

/** For sweeps where two things have several values each. */
export function heatFigures(data: SweepData): Figure[] {
  const wide = data.dimensions.map((d, i) => ({i, n: d.values.length})).filter((d) => d.n >= kFewest).sort((a, b) => b.n - a.n);
  if (wide.length < 2 || data.measures.length === 0) return [];
  return [figureOf(data, {measure: 0, across: wide[0].i, down: wide[1].i, held: data.dimensions.map(() => 0)})];
}
