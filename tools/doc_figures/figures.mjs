// All figures that documents name, and the pictures that are made of results. `long`: it takes more than a few seconds.
//   table(program): rows of cells; words(program): a string
import {spawnSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {inNetworkFigures} from "./in_network.mjs";
import {overlapFigures} from "./overlap.mjs";
import {thesisFigures} from "./thesis.mjs";

export const figures = {...overlapFigures, ...inNetworkFigures, ...thesisFigures};

/** A figure of a result's page as SVG. */
function drawn(result, figure) {
  const folder = mkdtempSync(path.join(tmpdir(), "infold-drawn-"));
  const [json, svg] = [path.join(folder, "result.json"), path.join(folder, "figure.svg")];
  try {
    writeFileSync(json, JSON.stringify(result));
    const done = spawnSync("node", ["web/picture.mjs", json, figure, svg], {encoding: "utf8"});
    if (done.status !== 0) throw new Error(`web/picture.mjs: ${done.stderr}`);
    return readFileSync(svg, "utf8");
  } finally {
    rmSync(folder, {recursive: true});
  }
}
export const pictures = [{file: "docs/images/overlap.svg", long: true, picture: (program) => drawn(program.json("study overlap"), "slowdown")}];
