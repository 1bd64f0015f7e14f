// An algorithm has one name, colour and symbol on all pages. Everything else is told apart by its place in the list.
import {colour, dash, symbol} from "./theme";

export interface Style {
  colour: string;
  symbol: string;
  dash: "solid" | "dashed" | "dotted";
}

/** By place in the palette. What is compared most often comes first and differs most. */
const kMethods = ["ring", "tree", "nvls", "inc-push", "inc-pull", "ring@dma", "auto", "ring@ace", "direct", "two-shot", "halving-doubling", "hierarchical", "ccube"];

const styleAt = (i: number): Style => ({colour: colour(i), symbol: symbol(i), dash: dash(i)});

/** The name of an algorithm, with its engine where that is not the usual one. */
export function methodName(algo: string, engine: string | undefined): string {
  return engine === "dma" || engine === "ace" ? `${algo}@${engine}` : algo;
}

/** How to draw each of these: as the algorithms they are; what is none (a program of a user, a system) takes the next free place. */
export function stylesOf(names: string[]): Style[] {
  const taken = new Set(names.map((name) => kMethods.indexOf(name)));
  let next = 0;
  return names.map((name) => {
    const own = kMethods.indexOf(name);
    if (own >= 0) return styleAt(own);
    while (taken.has(next)) ++next;
    return styleAt(next++);
  });
}
