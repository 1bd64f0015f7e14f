// The page of a study that says what it shows in four sentences: one panel per sentence, with its verdict in the title.
import {Row, Sentence, Study} from "./payload";
import {Figure} from "./figure";
import {View} from "./view";
import {barFigure} from "./bars";
import {dotFigure} from "./dots";
import {tick} from "./axes";
import {windowFigure} from "./size_window";
import {method, where} from "./steps";
import {capital, list, percent, roundPercent, size} from "./format";

const kCauses: Record<string, string> = {sm: "SMs that it holds", hbm: "memory bandwidth", l2: "cache", skew: "late GPUs", interaction: "these together"};

function verdict(of: Sentence[]): string {
  const holding = of.filter((s) => s.holds).length;
  return holding === 0 ? "does not hold as simulated" : holding === of.length ? "holds" : "holds in part";
}

/** "r9nano-pcie-4: +2.0 %; hgx-h100: +3.0 %" */
function numbers(of: Sentence[]): string {
  const systems = [...new Set(of.map((s) => s.system))];
  return systems.map((system) => `${system}: ${of.filter((s) => s.system === system).map((s) => s.said).join(", ")}`).join("; ");
}

const caseName = (row: Row): string => `${row.model}, batch ${row.batch}, ${row.gpus} GPUs of ${row.system}`;

export function thesisView(s: Study): View {
  const all = s.sentences ?? [];
  const claims = [1, 2, 3, 4].map((number) => all.filter((one) => one.number === number));
  const said = claims.flatMap((of) => (of.length === 0 ? [] : [`${of[0].number}. ${capital(of[0].claim)}: ${verdict(of)} (${numbers(of)}).`]));
  const title = (number: number, name: string) => (claims[number - 1].length === 0 ? name : `${number}. ${capital(claims[number - 1][0].claim)}: ${verdict(claims[number - 1])}`);
  const rows = s.cases.map((c) => ({sequential: c.rows.find((row) => row.variant === "sequential")!, overlapped: c.rows.filter((row) => row.variant === "overlap")}));
  const groups = rows.map((r) => caseName(r.sequential));
  const names = [...new Set(rows.flatMap((r) => r.overlapped.map(method)))];
  const by = (of: (row: Row) => number) => names.map((name) => ({name, values: rows.map((r) => r.overlapped.filter((row) => method(row) === name).map(of)[0] ?? null)}));
  const figures: Figure[] = [];
  if (s.cases.length > 0) {
    const first = names[0];
    const causes = [...new Set(s.cases.flatMap((c) => (c.causes ?? []).filter((one) => one.slowdown !== 0).map((one) => one.cause)))];
    figures.push(
      dotFigure({
        id: "throughput",
        title: title(1, "Throughput"),
        caption: `Samples per second relative to reducing after backward with ${first}. Right of the line, overlapping pays. In samples per second, sequential and with ${first}: ${rows.map((r, i) => `${r.sequential.samples_per_s.toFixed(1)} and ${r.overlapped[0].samples_per_s.toFixed(1)} (${groups[i]})`).join("; ")}.`,
        groups,
        series: by((row) => row.speedup_vs_sequential),
        show: (v) => `${v.toFixed(3)}x`,
        axis: (v) => `${tick(v)}x`,
        anywhere: true,
        unit: "against sequential",
        reference: {value: 1, name: "1.0x"},
      }),
      barFigure({
        id: "longer",
        title: title(2, "Backward"),
        caption: `How much longer all of backward takes beside ${first} than alone, and why: what that shrinks by when one kind of sharing alone is switched off; the last is what they do together. Alone and beside: ${rows.map((r, i) => `${r.overlapped[0].backward_alone_ms.toFixed(2)} ms and ${r.overlapped[0].phases_ms.backward.toFixed(2)} ms (${groups[i]})`).join("; ")}.`,
        groups,
        series: [
          {name: "longer by", values: rows.map((r) => r.overlapped[0].backward_slowdown)},
          ...causes.map((cause) => ({name: kCauses[cause] ?? cause, values: s.cases.map((c) => c.causes?.find((one) => one.cause === cause)?.slowdown ?? null)})),
        ],
        show: percent,
        axis: roundPercent,
        unit: "slow-down",
      }),
      barFigure({
        id: "repaired",
        title: title(3, "Repair"),
        caption: `How much longer backward takes than alone, beside ${list(names)}.`,
        groups,
        series: by((row) => row.backward_slowdown),
        show: percent,
        axis: roundPercent,
        unit: "slow-down",
      }),
    );
  }
  s.windows.forEach((w, i) => {
    const window = {id: `window-${i}`, where: `${w.gpus} GPUs of ${w.system}`, sizes: w.bytes, methods: w.methods.map((m) => ({name: m.method, time_us: m.time_us}))};
    const limits = claims[3].filter((one) => one.system === w.system);
    const drawn = windowFigure(window);
    figures.push({...drawn, title: `${title(4, "Window")}: ${window.where}`, caption: `${drawn.caption} Against ring alone, ${limits.map((one) => one.said).join("; ")}.${w.simulated_to_bytes !== undefined ? ` Above ${size(w.simulated_to_bytes)} what switches reduce is not simulated: its times are on the line through those of this size and half of it.` : ""}`});
  });
  return {
    title: `The thesis in four sentences`,
    answer: said.join("\n"),
    warnings: [],
    figures,
    facts: [["summary", s.summary ?? ""], ["cases", list(rows.map((r) => where(r.sequential)))]],
  };
}
