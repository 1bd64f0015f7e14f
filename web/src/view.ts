// What a command's page consists of; each command's file makes one of these from its result.
import {Figure} from "./figure";

export interface View {
  title: string;
  /** The result in one sentence. */
  answer: string;
  /** What the reader must not miss, e.g. wrong values. */
  warnings: string[];
  /** The first is the one to look at. */
  figures: Figure[];
  /** What was run, in words. */
  facts: [name: string, value: string][];
}
