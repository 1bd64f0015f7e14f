// The command behind tools/doc-figures: which documents, what is made in them, and what became different.
import {existsSync, readFileSync, readdirSync, writeFileSync} from "node:fs";
import {filesOf, renewed} from "./document.mjs";
import {figures, pictures} from "./figures.mjs";
import {Program} from "./program.mjs";

const words = process.argv.slice(2);
const check = words.includes("--check");
const quick = words.includes("--quick");
const named = words.filter((word) => !word.startsWith("--"));
const unknown = words.find((word) => word.startsWith("--") && !["--check", "--quick"].includes(word));
if (unknown !== undefined || named.some((file) => !existsSync(file))) {
  console.error(`doc-figures: no such ${unknown ? `option: ${unknown}` : `file: ${named.find((file) => !existsSync(file))}`}`);
  console.error("usage: tools/doc-figures [--check] [--quick] [FILE...]");
  process.exit(2);
}
const binary = process.env.INFOLD_BINARY ?? "build/release/infold";
if (!existsSync(binary)) {
  console.error(`doc-figures: ${binary} is missing; build it first, or name another in INFOLD_BINARY`);
  process.exit(2);
}

const program = new Program(binary);
const used = new Set();
let differences = 0;

function made(name, kind) {
  const figure = figures[name];
  if (figure?.[kind] === undefined) throw new Error(`no figure of this name makes ${kind}: ${name} (tools/doc_figures/figures.mjs)`);
  used.add(name);
  return quick && figure.long ? undefined : figure[kind](program);
}
const make = {
  output: (command, long) => (quick && long ? undefined : program.lines(command)),
  table: (name) => made(name, "table"),
  words: (name) => made(name, "words"),
};

/** Says what a document had and has now, without the lines that are the same. */
function say(file, line, what, before, after) {
  ++differences;
  console.log(`${file}:${line}: ${what}`);
  for (const old of before) if (!after.includes(old)) console.log(`- ${old}`);
  for (const now of after) if (!before.includes(now)) console.log(`+ ${now}`);
}

try {
  const all = ["README.md", ...readdirSync("docs").filter((file) => file.endsWith(".md")).sort().map((file) => `docs/${file}`)];
  for (const file of named.length > 0 ? named : all) {
    const text = readFileSync(file, "utf8");
    program.provide(filesOf(text));
    const now = await renewed(text, make, (...difference) => say(file, ...difference));
    if (!check && now !== text) writeFileSync(file, now);
  }
  if (named.length === 0) {
    const unused = Object.keys(figures).filter((name) => !used.has(name));
    if (unused.length > 0) throw new Error(`no document has these figures: ${unused.join(", ")}`);
    for (const {file, long, picture} of quick ? pictures.filter((p) => !p.long) : pictures) {
      const now = picture(program);
      if (existsSync(file) && readFileSync(file, "utf8") === now) continue;
      ++differences;
      console.log(`${file}: ${check ? "is another picture" : "drawn anew"}`);
      if (!check) writeFileSync(file, now);
    }
  }
} finally {
  program.end();
}
const seconds = program.times().reduce((sum, t) => sum + t.seconds, 0);
console.log(`${differences} ${check ? "stale" : "changed"}; ${program.times().length} commands took ${seconds.toFixed(1)} s, the longest:`);
for (const t of program.times().slice(0, 3)) console.log(`  ${t.seconds.toFixed(1)} s  ${t.command}`);
if (check && differences > 0) {
  console.error("doc-figures: documents differ from what the program prints; run tools/doc-figures and read the difference");
  process.exit(1);
}
