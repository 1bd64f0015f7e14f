// Puts the page together from the data that infold wrote into it.
import {DrawnFigure} from "./figure";
import {Payload} from "./payload";
import {View} from "./view";
import {button, element, save} from "./dom";
import {currentTheme, kLight} from "./theme";
import {tableElement} from "./table";
import {viewOf} from "./views";

function reproduction(payload: Payload, view: View): HTMLElement {
  const root = element("section", {class: "card", id: "reproduce"});
  root.append(element("h2", {}, "What was run"));
  const facts = element("dl");
  for (const [name, value] of view.facts) facts.append(element("dt", {}, name), element("dd", {}, value));
  root.append(facts, element("h3", {}, "Run it again"), element("pre", {tabindex: "0", "aria-label": "Command"}, payload.typed));
  const row = element("div", {class: "row actions"});
  row.append(
    button("Copy", () => void navigator.clipboard?.writeText(payload.typed), "Copy the command"),
    button("JSON", () => save(`infold-${payload.result.command}.json`, "application/json", JSON.stringify(payload.result, null, 1)), "Download the result as JSON"),
  );
  root.append(row);
  if (payload.systems.length > 0) root.append(element("h3", {}, "Parameters"));
  for (const system of payload.systems) {
    const details = element("details");
    const rows = system.parameters.map((p) => [p.path, p.value, p.meaning]);
    details.append(
      element("summary", {}, `${system.name}: ${system.summary}`),
      tableElement({columns: [{name: "parameter"}, {name: "value"}, {name: "meaning", prose: true}], rows}, system.name),
    );
    root.append(details);
  }
  return root;
}

function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen !== undefined ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** A number and its unit stay in one line. */
const withUnits = (text: string): string => text.replace(/(\d) (%|[num]?s|[KMGT]?i?B|GB\/s|TFLOP\/s)(?![\w/])/g, "$1\u00a0$2");

function start(): void {
  const byId = (id: string) => document.getElementById(id)!;
  const payload = JSON.parse(byId("data").textContent!) as Payload;
  const view = viewOf(payload);
  document.title = `${view.title} - infold`;
  byId("title").textContent = view.title;
  const main = byId("main");
  main.replaceChildren(element("p", {class: "answer"}, withUnits(view.answer)));
  for (const warning of view.warnings) main.append(element("p", {class: "warning", role: "alert"}, warning));
  for (const note of view.notes) main.append(element("p", {class: "note"}, note));

  let patterns = false;
  const figures = view.figures.map((figure) => new DrawnFigure(figure, currentTheme(patterns), main));
  const redraw = () => {
    themeButton.textContent = isDark() ? "Light" : "Dark";
    for (const figure of figures) figure.update(currentTheme(patterns));
  };
  main.append(reproduction(payload, view));
  byId("footer").textContent = `Made by infold ${payload.infold}: simulated, not measured. This file is complete; it loads nothing.`;

  const themeButton = byId("theme");
  themeButton.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    redraw();
  });
  byId("patterns").addEventListener("click", (event) => {
    patterns = !patterns;
    (event.currentTarget as HTMLElement).setAttribute("aria-pressed", String(patterns));
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new ResizeObserver(() => {
    for (const figure of figures) figure.resize();
  }).observe(main);
  // Paper is white, and as wide as it is.
  const kPaper = 680;
  addEventListener("beforeprint", () => {
    for (const figure of figures) {
      figure.resize(kPaper);
      figure.update({...kLight, patterns});
    }
  });
  addEventListener("afterprint", () => {
    for (const figure of figures) figure.resize();
    redraw();
  });
  redraw();
}

start();
