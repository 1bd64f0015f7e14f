// Makes the page that `infold --report` fills in, from web/src. `tools/page` calls it.
//   node build.mjs <folder>   ->  charts.js: the chart library, minified; page.html: all the rest, with places for library and data
// The two are apart, and our own program is not minified, so that a change of the page is small and readable in the history.
import {build} from "esbuild";
import {mkdir, readFile, writeFile} from "node:fs/promises";
import path from "node:path";
import {fileURLToPath} from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
if (process.argv[2] === undefined) {
  console.error("usage: node web/build.mjs <folder>");
  process.exit(2);
}
const output = path.resolve(process.argv[2]);

// What charts.ts exports is a global of this name on the page.
const kLibrary = "infoldCharts";
const libraryIsGlobal = {
  name: "library-is-global",
  setup(own) {
    own.onResolve({filter: /^\.\/charts$/}, () => ({path: "charts", namespace: "global"}));
    own.onLoad({filter: /.*/, namespace: "global"}, () => ({contents: `module.exports = ${kLibrary};`}));
  },
};

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [path.join(here, "src", entry)],
    absWorkingDir: here, // paths in comments of the bundle begin here
    bundle: true,
    write: false,
    format: "iife",
    target: ["chrome100", "firefox100", "safari15"],
    charset: "ascii",
    legalComments: "none", // all of them are put into the page whole, see licences()
    define: {"process.env.NODE_ENV": '"production"'},
    logLevel: "warning",
    ...options,
  });
  return result.outputFiles[0].text;
}

async function licences() {
  const texts = [];
  for (const file of ["echarts/LICENSE", "echarts/NOTICE", "echarts/licenses/LICENSE-d3", "zrender/LICENSE", "tslib/LICENSE.txt"]) {
    texts.push(`${file}\n\n${(await readFile(path.join(here, "node_modules", file), "utf8")).replaceAll("\r", "")}`);
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

const charts = insideElement(await bundle("charts.ts", {minify: true, globalName: kLibrary}), "script");
const parts = {
  style: insideElement(await bundle("style.css", {}), "style"),
  script: insideElement(await bundle("main.ts", {plugins: [libraryIsGlobal]}), "script"),
  licences: await licences(),
};
let page = await readFile(path.join(here, "src", "page.html"), "utf8");
for (const [name, text] of Object.entries(parts)) {
  const place = `@@${name}@@`;
  if (page.split(place).length !== 2) throw new Error(`page.html must hold ${place} once`);
  page = page.replace(place, () => text);
}
for (const place of ["@@charts@@", "@@data@@"]) {
  if (page.split(place).length !== 2) throw new Error(`the page must hold ${place} once`);
}
await mkdir(output, {recursive: true});
await writeFile(path.join(output, "charts.js"), charts);
await writeFile(path.join(output, "page.html"), page);
