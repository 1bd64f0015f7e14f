// A figure of a result's page as an SVG file, without a browser.
//   node web/picture.mjs <result.json> <figure> <output.svg>
// The result is what --json prints; figures are called as on the page (slowdown, repaired, busbw, ...).
import {build} from "esbuild";
import {mkdtemp, readFile, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import path from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";

const [input, id, output] = process.argv.slice(2);
if (output === undefined) {
  console.error("usage: node web/picture.mjs <result.json> <figure> <output.svg>");
  process.exit(2);
}
const here = path.dirname(fileURLToPath(import.meta.url));
const folder = await mkdtemp(path.join(tmpdir(), "infold-picture-"));
try {
  const outfile = path.join(folder, "picture.mjs");
  await build({entryPoints: [path.join(here, "src", "picture.ts")], bundle: true, format: "esm", platform: "node", outfile, logLevel: "warning", define: {"process.env.NODE_ENV": '"production"'}});
  const {picture} = await import(pathToFileURL(outfile).href);
  const result = JSON.parse(await readFile(input, "utf8"));
  await writeFile(output, `${picture({infold: "", typed: "", systems: [], machines: [], published: [], counters: [], result}, id)}\n`);
} finally {
  await rm(folder, {recursive: true});
}
