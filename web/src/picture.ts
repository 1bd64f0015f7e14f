// A figure of a page as a picture, without a browser: what web/picture.mjs runs.
import {Payload} from "./payload";
import {pictureOf} from "./echarts";
import {viewOf} from "./views";

/** The figure of that id as SVG. */
export function picture(payload: Payload, id: string): string {
  const figures = viewOf(payload).figures;
  const figure = figures.find((f) => f.id === id);
  if (figure === undefined) throw new Error(`there is no figure ${id}, but ${figures.map((f) => f.id).join(", ")}`);
  return pictureOf(figure);
}
