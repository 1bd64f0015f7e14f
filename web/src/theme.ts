// Colours and marks. The palette is Okabe and Ito's, which colour-blind people can tell apart; every series
// has a symbol of its own as well.

const kPalette = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#7F7F7F"];
const kSymbols = ["circle", "rect", "triangle", "diamond", "emptyCircle", "emptyRect", "emptyTriangle", "emptyDiamond"];

export interface Theme {
  text: string;
  soft: string;
  line: string;
  grid: string;
  card: string;
  shade: string;
  patterns: boolean;
}

export const kLight: Theme = {
  text: "#1b1f24",
  soft: "#565e68",
  line: "#d9dde2",
  grid: "#e8ebee",
  card: "#ffffff",
  shade: "rgba(86, 94, 104, 0.12)",
  patterns: false,
};

/** As the style sheet has it now, so that colours are written down once for the page. */
export function currentTheme(patterns: boolean): Theme {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: read("--text"),
    soft: read("--soft"),
    line: read("--line"),
    grid: read("--grid"),
    card: read("--card"),
    shade: read("--shade"),
    patterns,
  };
}

export const colour = (i: number): string => kPalette[i % kPalette.length];
export const symbol = (i: number): string => kSymbols[i % kSymbols.length];
/** Lines beyond the palette's length are dashed, those beyond twice its length dotted. */
export const dash = (i: number): "solid" | "dashed" | "dotted" =>
  (["solid", "dashed", "dotted"] as const)[Math.floor(i / kPalette.length) % 3];

/** A colour of the palette mixed with white (share above 0) or black (below). */
export function shaded(hex: string, share: number): string {
  const to = share > 0 ? 255 : 0;
  const parts = [1, 3, 5].map((at) => Math.round(parseInt(hex.slice(at, at + 2), 16) * (1 - Math.abs(share)) + to * Math.abs(share)));
  return `#${parts.map((n) => n.toString(16).padStart(2, "0")).join("")}`;
}

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(hex: string): string {
  const [r, g, b] = [1, 3, 5].map((at) => (parseInt(hex.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.2 ? "#1b1f24" : "#ffffff";
}

/** What means the same in every chart has the same colour. */
export const kPhaseColours: Record<string, string> = {
  waiting: "#999999",
  forward: "#56B4E9",
  "backward alone": "#0072B2",
  "backward slow-down": "#D55E00",
  "exposed communication": "#E69F00",
  "copying back": "#F0E442",
  optimizer: "#009E73",
};
export const kWaitColour = "#999999";
