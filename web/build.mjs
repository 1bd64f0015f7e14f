// Makes the page that `infold --report` fills in: one HTML file with style, program and licences inside.
//   node build.mjs <output file>
import {build} from "esbuild";
import {mkdir, readFile, writeFile} from "node:fs/promises";
import path from "node:path";
import {fileURLToPath} from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const output = path.resolve(process.argv[2] ?? "build/report.html");

async function bundle(entry) {
  const result = await build({
    entryPoints: [path.join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome100", "firefox100", "safari15"],
    charset: "ascii",
    legalComments: "none", // all of them are put into the page whole, see licences()
    define: {"process.env.NODE_ENV": '"production"'},
    logLevel: "warning",
  });
  return result.outputFiles[0].text;
}

async function licences() {
  const texts = [];
  for (const file of ["echarts/LICENSE", "echarts/NOTICE", "echarts/licenses/LICENSE-d3", "zrender/LICENSE", "tslib/LICENSE.txt"]) {
    texts.push(`${file}\n\n${await readFile(path.join(here, "node_modules", file), "utf8")}`);
  }
  // Two dashes could end the comment that holds them.
  return texts.join("\n\n").replaceAll("--", "- -");
}

// A script or style element ends at its first closing tag, wherever that stands.
function insideElement(text, tag) {
  if (new RegExp(`</${tag}`, "i").test(text)) throw new Error(`the ${tag} holds its own closing tag`);
  if (/<!--/.test(text)) throw new Error(`the ${tag} holds the beginning of a comment`);
  return text;
}

const parts = {
  style: insideElement(await bundle("style.css"), "style"),
  script: insideElement(await bundle("main.ts"), "script"),
  licences: await licences(),
};
let page = await readFile(path.join(here, "src", "page.html"), "utf8");
for (const [name, text] of Object.entries(parts)) {
  const place = `@@${name}@@`;
  if (page.split(place).length !== 2) throw new Error(`page.html must hold ${place} once`);
  page = page.replace(place, () => text);
}
await mkdir(path.dirname(output), {recursive: true});
await writeFile(output, page);
