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

/** Something the reader chooses: a list of words, one of them chosen. */
export interface Choice {
  label: string;
  options: string[];
  chosen: number;
  /** Kept, but without effect on what is drawn now. */
  hidden?: boolean;
}

export interface Figure {
  id: string;
  title: string;
  caption: string;
  /** What a person who cannot see the chart should know of it. */
  description: string;
  height: number;
  legend: LegendEntry[];
  option: (theme: Theme, narrow: boolean) => Option;
  table: Table;
  /** The time or size axis can be zoomed. */
  zoom: boolean;
  /** What the reader can choose, and the figure with what was chosen. */
  choices?: Choice[];
  choose?: (chosen: number[]) => Figure;
}

const kNarrow = 620;

export class DrawnFigure {
  readonly root: HTMLElement;
  private readonly chart: EChart;
  private readonly place: HTMLElement;
  private readonly title = element("h2");
  private readonly caption = element("figcaption");
  private readonly choices = element("div", {class: "row choices", role: "group", "aria-label": "What is drawn"});
  private readonly legend = element("div", {class: "row legend", role: "group", "aria-label": "Series shown"});
  private actions = element("div");
  private values = element("details");

  constructor(
    private figure: Figure,
    private theme: Theme,
    parent: HTMLElement,
  ) {
    this.root = element("figure", {id: figure.id});
    this.place = element("div", {class: "chart", role: "img"});
    this.root.append(this.title, this.choices, this.legend, this.place, this.caption, this.actions, this.values);
    this.fill();
    parent.append(this.root); // a chart takes its size from its place on the page
    this.chart = draw(this.place);
    this.update(theme);
  }

  /** Everything around the chart, as the figure has it now. */
  private fill(): void {
    const {figure} = this;
    this.title.textContent = figure.title;
    this.caption.textContent = figure.caption;
    this.caption.hidden = figure.caption === "";
    this.place.setAttribute("aria-label", `${figure.title}. ${figure.description}`);
    this.place.style.height = `${figure.height}px`;
    this.fillLegend();
    this.fillChoices();
    const [actions, values] = [this.makeActions(), valuesOf(figure)];
    if ((this.values as HTMLDetailsElement).open) (values as HTMLDetailsElement).open = true;
    this.actions.replaceWith(actions);
    this.values.replaceWith(values);
    [this.actions, this.values] = [actions, values];
  }

  private fillChoices(): void {
    const choices = this.figure.choices ?? [];
    this.choices.hidden = choices.length === 0;
    const focused = [...this.choices.querySelectorAll("select")].indexOf(document.activeElement as HTMLSelectElement);
    const selects = choices.map((choice) => {
      const select = element("select", {"aria-label": choice.label}) as HTMLSelectElement;
      choice.options.forEach((option, i) => select.append(element("option", {value: String(i)}, option)));
      select.selectedIndex = choice.chosen;
      select.addEventListener("change", () => {
        this.figure = this.figure.choose!(selects.map((s) => s.selectedIndex));
        this.fill();
        this.chart.forget();
        this.update(this.theme);
      });
      return select;
    });
    this.choices.replaceChildren(
      ...choices.map((choice, i) => {
        const label = element("label", {}, `${choice.label} `);
        label.hidden = choice.hidden === true;
        label.append(selects[i]);
        return label;
      }),
    );
    selects[focused]?.focus(); // the keyboard stays where it was
  }

  update(theme: Theme): void {
    this.theme = theme;
    this.chart.setOption(this.figure.option(theme, this.place.clientWidth < kNarrow), theme, this.figure.legend);
  }

  resize(width?: number): void {
    this.chart.resize(width);
    this.update(this.theme);
  }

  private fillLegend(): void {
    this.legend.hidden = this.figure.legend.length < 2;
    this.legend.replaceChildren();
    for (const entry of this.figure.legend) {
      const key = button(entry.name, () => {
        const on = key.getAttribute("aria-pressed") === "true";
        key.setAttribute("aria-pressed", String(!on));
        this.chart.toggle(entry.name);
      });
      key.setAttribute("aria-pressed", "true");
      key.prepend(keyMark(entry));
      this.legend.append(key);
    }
  }

  private makeActions(): HTMLElement {
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

}

/** Long tables are made when somebody opens them. */
const kLongTable = 2000;
function valuesOf(figure: Figure): HTMLElement {
  const details = element("details") as HTMLDetailsElement;
  details.append(element("summary", {}, "Values"));
  const fill = () => details.append(tableElement(figure.table, figure.title));
  if (figure.table.rows.length <= kLongTable) fill();
  else details.addEventListener("toggle", fill, {once: true});
  return details;
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
