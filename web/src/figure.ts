// A chart with everything around it: caption, a legend of buttons, its values as a table, downloads.
import {EChart, Option, draw, pictureOf} from "./echarts";
import {Theme} from "./theme";
import {Table, csvOf, tableElement} from "./table";
import {button, element, save} from "./dom";


/** Something that can be switched off and on again; `name` is the series' name. */
export interface LegendEntry {
  name: string;
  colour: string;
  symbol: string;
}

export interface Figure {
  id: string;
  title: string;
  caption: string;
  /** What a person who can not see the chart should know of it. */
  description: string;
  height: number;
  legend: LegendEntry[];
  option: (theme: Theme, narrow: boolean) => Option;
  table: Table;
  /** The time or size axis can be zoomed. */
  zoom: boolean;
}

const kNarrow = 620;

export class DrawnFigure {
  readonly root: HTMLElement;
  private readonly chart: EChart;
  private readonly place: HTMLElement;

  constructor(
    private readonly figure: Figure,
    private theme: Theme,
    parent: HTMLElement,
  ) {
    this.root = element("figure", {id: figure.id});
    this.root.append(element("h2", {}, figure.title));
    this.place = element("div", {class: "chart", role: "img", "aria-label": `${figure.title}. ${figure.description}`});
    this.place.style.height = `${figure.height}px`;
    const legend = element("div", {class: "row legend", role: "group", "aria-label": "Series shown"});
    if (figure.legend.length > 1) this.root.append(legend);
    this.root.append(this.place, element("figcaption", {}, figure.caption), this.actions(), this.values());
    parent.append(this.root); // a chart takes its size from its place on the page
    this.chart = draw(this.place);
    this.update(theme);
    if (figure.legend.length > 1) this.fillLegend(legend);
  }

  update(theme: Theme): void {
    this.theme = theme;
    this.chart.setOption(this.figure.option(theme, this.place.clientWidth < kNarrow), theme, this.figure.legend);
  }

  resize(width?: number): void {
    this.chart.resize(width);
    this.update(this.theme);
  }

  private fillLegend(legend: HTMLElement): void {
    for (const entry of this.figure.legend) {
      const key = button(entry.name, () => {
        const on = key.getAttribute("aria-pressed") === "true";
        key.setAttribute("aria-pressed", String(!on));
        this.chart.toggle(entry.name);
      });
      key.setAttribute("aria-pressed", "true");
      key.prepend(keyMark(entry));
      legend.append(key);
    }
  }

  private actions(): HTMLElement {
    const row = element("div", {class: "row actions"});
    const name = `infold-${this.figure.id}`;
    row.append(
      button("SVG", () => save(`${name}.svg`, "image/svg+xml", pictureOf(this.figure)), `Download ${this.figure.title} as SVG`),
      button("CSV", () => save(`${name}.csv`, "text/csv", csvOf(this.figure.table)), `Download the values of ${this.figure.title} as CSV`),
    );
    if (this.figure.zoom) {
      row.append(
        element("span", {class: "space"}),
        button("Zoom in", () => this.chart.zoom(0.5)),
        button("Zoom out", () => this.chart.zoom(2)),
        button("\u2190", () => this.chart.pan(-0.25), "Move left"),
        button("\u2192", () => this.chart.pan(0.25), "Move right"),
        button("Whole", () => this.chart.zoom(Infinity)),
      );
    }
    return row;
  }

  private values(): HTMLElement {
    const details = element("details");
    details.append(element("summary", {}, "Values"), tableElement(this.figure.table, this.figure.title));
    return details;
  }
}

function keyMark(entry: LegendEntry): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("width", "14");
  svg.setAttribute("height", "14");
  svg.setAttribute("aria-hidden", "true");
  const shapes: Record<string, string> = {
    circle: "M7 2a5 5 0 1 1 0 10a5 5 0 1 1 0-10z",
    rect: "M2 2h10v10h-10z",
    triangle: "M7 2l5.5 10h-11z",
    diamond: "M7 1l6 6l-6 6l-6-6z",
  };
  const hollow = entry.symbol.startsWith("empty");
  const shape = hollow ? entry.symbol.slice(5).toLowerCase() : entry.symbol;
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", shapes[shape] ?? shapes.rect);
  path.setAttribute("fill", hollow ? "none" : entry.colour);
  path.setAttribute("stroke", entry.colour);
  path.setAttribute("stroke-width", hollow ? "2" : "0");
  svg.append(path);
  return svg;
}
