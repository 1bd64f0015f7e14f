// tools/doc-figures: what it makes anew in a document, what it leaves alone, and what it says.
import assert from "node:assert/strict";
import {test} from "node:test";
import {filesOf, renewed} from "../../tools/doc_figures/document.mjs";

const make = {
  output: (command, long) => (long ? undefined : [`said by ${command}`, "second", "third"]),
  table: (name) => (name === "long" ? undefined : [["", "a"], ["---", "---"], [name, 1]]),
  words: (name) => (name === "long" ? undefined : `new ${name}`),
};
async function run(lines) {
  const changes = [];
  const text = await renewed(lines.join("\n"), make, (line, what, before, after) => changes.push({line, what, before, after}));
  return {lines: text.split("\n"), changes};
}

test("the output of a command is made anew, and the change is told with its place", async () => {
  const {lines, changes} = await run(["text", "```", "$ infold x", "old", "```", "after"]);
  assert.deepEqual(lines, ["text", "```", "$ infold x", "said by infold x", "second", "third", "```", "after"]);
  assert.deepEqual(changes, [{line: 3, what: "$ infold x", before: ["old"], after: ["said by infold x", "second", "third"]}]);
});

test("what is right already is no change", async () => {
  const right = ["```", "$ infold x", "said by infold x", "second", "third", "```", "<!-- figures: t -->", "| | a |", "|---|---|", "| t | 1 |", "", "so <!-- figure: w -->new w<!-- end -->."];
  const {lines, changes} = await run(right);
  assert.deepEqual(lines, right);
  assert.deepEqual(changes, []);
});

test("dots keep an output as short as it was", async () => {
  const {lines} = await run(["```", "$ infold x", "old", "...", "```"]);
  assert.deepEqual(lines, ["```", "$ infold x", "said by infold x", "...", "```"]);
});

test("several commands share a fence; one that shows nothing is not run", async () => {
  const {lines, changes} = await run(["```", "$ infold a  # why", "$ infold b", "old", "```"]);
  assert.deepEqual(lines, ["```", "$ infold a  # why", "$ infold b", "said by infold b", "second", "third", "```"]);
  assert.equal(changes[0].line, 3);
});

test("long ones stay as they are when they are not asked for", async () => {
  const {changes} = await run(["<!-- long -->", "```", "$ infold x", "old", "```", "<!-- figures: long -->", "| old |", "<!-- figure: long -->old<!-- end -->"]);
  assert.deepEqual(changes, []);
});

test("a table ends where its rows end", async () => {
  const {lines} = await run(["<!-- figures: t -->", "| old |", "| older |", "", "| other |"]);
  assert.deepEqual(lines, ["<!-- figures: t -->", "| | a |", "|---|---|", "| t | 1 |", "", "| other |"]);
});

test("several words of a line are made anew", async () => {
  const {lines} = await run(["a <!-- figure: b -->1<!-- end --> c <!-- figure: d -->2<!-- end -->"]);
  assert.deepEqual(lines, ["a <!-- figure: b -->new b<!-- end --> c <!-- figure: d -->new d<!-- end -->"]);
});

test("other fences hold no marks", async () => {
  const text = ["```yaml", "<!-- figures: t -->", "| old |", "```", "```", "infold without a prompt", "```"];
  assert.deepEqual((await run(text)).lines, text);
});

test("a file that a document shows can be used by its commands", () => {
  assert.deepEqual([...filesOf("```yaml\n# my.yaml\nkind: system\n```\n```yaml\nkind: other\n```\n")], [["my.yaml", "kind: system\n"]]);
});
