// A chart's values as a table for the eye, and as CSV with every digit.
import {digits} from "./format";
import {element} from "./dom";

export type Cell = string | number | null;
export interface Column {
  name: string;
  /** How a number is shown; it is saved as it is. */
  show?: (value: number) => string;
  prose?: boolean;
}
export interface Table {
  columns: Column[];
  rows: Cell[][];
}

export function tableElement(table: Table, label: string): HTMLElement {
  const scroll = element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Values: ${label}`});
  const root = element("table");
  const numeric = table.columns.map((_, i) => table.rows.some((row) => typeof row[i] === "number"));
  const head = element("tr");
  table.columns.forEach((column, i) => head.append(element("th", {scope: "col", class: numeric[i] ? "number" : ""}, column.name)));
  const body = element("tbody");
  for (const row of table.rows) {
    const line = element("tr");
    row.forEach((cell, i) => {
      const column = table.columns[i];
      const text = cell === null ? "-" : typeof cell === "number" ? (column.show ?? digits)(cell) : cell;
      const td = element("td", {class: numeric[i] ? "number" : column.prose ? "prose" : ""}, text);
      if (typeof cell === "number") td.dataset.value = String(cell);
      line.append(td);
    });
    body.append(line);
  }
  const thead = element("thead");
  thead.append(head);
  root.append(thead, body);
  scroll.append(root);
  return scroll;
}

export function csvOf(table: Table): string {
  // A spreadsheet takes a cell that begins with one of these for a formula.
  const guarded = (text: string) => (/^[=+@\t\r-]/.test(text) ? `'${text}` : text);
  const quoted = (cell: Cell) => {
    if (cell === null) return "";
    if (typeof cell === "number") return String(cell);
    const text = guarded(cell);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [table.columns.map((c) => quoted(c.name)), ...table.rows.map((row) => row.map(quoted))];
  return lines.map((line) => line.join(",")).join("\r\n") + "\r\n";
}
