// What all charts of a page have in common, and a chart on the page or as a picture.
import type {EChartsOption} from "echarts";
import type {ECharts, Payload} from "echarts/core";
import {init} from "./charts";
import type {Figure, LegendEntry} from "./figure";
import {Theme, kLight} from "./theme";

export type Option = EChartsOption;

// A saved picture has this in an attribute, so it must hold no double quote.
const kFont = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

function common(theme: Theme, legend: LegendEntry[]): Option {
  return {
    animation: false,
    color: legend.map((entry) => entry.colour),
    textStyle: {fontFamily: kFont, fontSize: 12, color: theme.text},
    aria: {enabled: theme.patterns, label: {enabled: false}, decal: {show: theme.patterns}},
    // The page has buttons in its place, which the keyboard reaches; the component does the switching.
    legend: {show: false, data: legend.map((entry) => entry.name)},
    tooltip: {
      backgroundColor: theme.card,
      borderColor: theme.line,
      textStyle: {color: theme.text, fontFamily: kFont, fontSize: 12},
      confine: true,
      extraCssText: "max-width: 30em; white-space: normal;",
    },
  };
}

/** A chart on the page. */
export class EChart {
  private readonly instance: ECharts;
  constructor(place: HTMLElement) {
    this.instance = init(place, null, {renderer: "svg"});
  }
  setOption(option: Option, theme: Theme, legend: LegendEntry[]): void {
    const now = this.instance.getOption() as {legend?: {selected?: Record<string, boolean>}[]} | undefined;
    const selected = now?.legend?.[0]?.selected ?? {};
    const window = this.window();
    const base = common(theme, legend);
    this.instance.setOption({...base, ...option, legend: {...base.legend, selected}, tooltip: {...base.tooltip, ...option.tooltip}}, true);
    if (window) this.show(window.start, window.end);
  }
  resize(width?: number): void {
    this.instance.resize(width === undefined ? undefined : {width});
    if (width === undefined) this.instance.resize({width: "auto"});
  }
  toggle(name: string): void {
    this.dispatch({type: "legendToggleSelect", name});
  }
  /** What was switched off or zoomed belongs to another figure. */
  forget(): void {
    this.instance.clear();
  }
  /** Shows `factor` times as much as now, around the same middle. */
  zoom(factor: number): void {
    const {start, end} = this.window() ?? {start: 0, end: 100};
    const width = Math.min((end - start) * factor, 100);
    const middle = Math.min(Math.max((start + end) / 2, width / 2), 100 - width / 2);
    this.show(middle - width / 2, middle + width / 2);
  }
  pan(share: number): void {
    const {start, end} = this.window() ?? {start: 0, end: 100};
    const by = Math.min(Math.max((end - start) * share, -start), 100 - end);
    this.show(start + by, end + by);
  }
  private show(start: number, end: number): void {
    this.dispatch({type: "dataZoom", dataZoomIndex: 0, start, end});
  }
  /** Drawn when this returns, not at the browser's next frame: a button and its chart never disagree. */
  private dispatch(action: Payload): void {
    this.instance.dispatchAction(action, {flush: true});
  }
  private window(): {start: number; end: number} | undefined {
    const option = this.instance.getOption() as {dataZoom?: {start: number; end: number}[]} | undefined;
    return option?.dataZoom?.[0];
  }
}

export function draw(place: HTMLElement): EChart {
  return new EChart(place);
}

/** A figure as a picture of its own: light, with title and legend. */
export function pictureOf(figure: Figure): string {
  const head = figure.legend.length > 1 ? 72 : 44;
  const chart = init(null, null, {renderer: "svg", ssr: true, width: 960, height: figure.height + head});
  const option = figure.option(kLight, false);
  const base = common(kLight, figure.legend);
  const icons = figure.legend.map((entry) => ({
    name: entry.name,
    icon: entry.symbol.replace(/^empty/, "").toLowerCase(),
    itemStyle: {color: entry.colour},
  }));
  chart.setOption({
    ...base,
    ...option,
    backgroundColor: kLight.card,
    title: {text: figure.title, left: 12, top: 8, textStyle: {color: kLight.text, fontFamily: kFont, fontSize: 16}},
    legend: {show: figure.legend.length > 1, data: icons, left: 12, top: 38, itemWidth: 14, itemHeight: 12, itemGap: 18, textStyle: {color: kLight.text}},
    // Without a browser the width of names is only guessed.
    grid: {...(option.grid as object), left: 28, top: head + 16},
    dataZoom: [],
  });
  const text = chart.renderToSVGString();
  chart.dispose();
  return text;
}
