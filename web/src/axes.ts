// Axes and tooltips that several charts share.
import {size} from "./format";
import {Theme} from "./theme";
import {element} from "./dom";

export function grid(narrow: boolean) {
  return {left: 8, right: narrow ? 12 : 24, top: 8, bottom: 4, outerBoundsMode: "same" as const, outerBoundsContain: "all" as const};
}

/** The name of an axis stands over it, beginning at the left. */
export function valueAxis(theme: Theme, name: string, more: object = {}) {
  return {
    type: "value" as const,
    name,
    nameTextStyle: {color: theme.soft, align: "left" as const, padding: [0, 0, 0, -24]},
    axisLabel: {color: theme.soft},
    axisLine: {lineStyle: {color: theme.line}},
    splitLine: {lineStyle: {color: theme.grid}},
    ...more,
  };
}

/** On a narrow page a name goes on in the next line after each of its commas, and has no more room than it needs. */
export function namesAxis(theme: Theme, data: string[], narrow: boolean) {
  const longest = Math.max(0, ...data.flatMap((name) => name.split(", ")).map((line) => line.length));
  return {
    type: "category" as const,
    data,
    axisLabel: {
      color: theme.text,
      ...(narrow ? {width: Math.min(145, 8 * longest + 12), overflow: "break" as const, fontSize: 11, lineHeight: 13} : {}),
      interval: 0,
      formatter: (name: string) => (narrow ? name.replaceAll(", ", ",\n") : name.length > 48 ? `${name.slice(0, 46)}...` : name),
    },
    axisLine: {lineStyle: {color: theme.line}},
    axisTick: {show: false},
  };
}

/** A round number of an axis, without the digits that arithmetic leaves behind. */
export const tick = (v: number): string => String(Number(v.toPrecision(6)));

/** Sizes by their logarithm: what is drawn are powers of two, at whole powers. */
export const place = (bytes: number): number => Math.log2(bytes);
export function sizeAxis(theme: Theme, sizes: number[], narrow: boolean) {
  const low = Math.floor(place(Math.min(...sizes)));
  const high = Math.ceil(place(Math.max(...sizes)));
  const most = narrow ? 4 : 9;
  return {
    ...valueAxis(theme, ""),
    min: low,
    max: Math.max(high, low + 1),
    interval: Math.max(1, Math.ceil((high - low) / most)),
    minInterval: 1,
    name: "message size",
    nameLocation: "middle" as const,
    nameGap: 26,
    nameTextStyle: {color: theme.soft},
    axisLabel: {color: theme.soft, hideOverlap: true, showMaxLabel: !narrow, formatter: (v: number) => (Number.isInteger(v) ? size(2 ** v) : "")},
  };
}

/** Lines of a tooltip: name, value. Text, never markup. */
export function tip(title: string, lines: [mark: string | null, text: string][]): HTMLElement {
  const root = element("div");
  root.append(element("strong", {}, title));
  for (const [mark, text] of lines) {
    const line = element("div");
    if (mark !== null) {
      const dot = element("span", {style: `display:inline-block;width:9px;height:9px;margin-right:7px;border-radius:2px;background:${mark}`});
      line.append(dot);
    }
    line.append(text);
    root.append(line);
  }
  return root;
}
