// Finds what is made in a Markdown document: the output of commands, marked tables, marked words.
//   an example:  a fence without a language that begins with "$ infold"; "..." ends what is shown of an output
//   a table:     the rows below a line <!-- figures: NAME -->
//   words:       <!-- figure: NAME -->words<!-- end -->
// A line <!-- long --> before the fence of an example says that it takes more than seconds.

const kMade = /^<!-- figures: ([\w-]+) -->$/;
const kWords = /<!-- figure: ([\w-]+) -->(.*?)<!-- end -->/g;

/** Splits the lines of an example into commands, each with the output that is shown. */
function commandsOf(lines) {
  const commands = [];
  for (const line of lines) {
    if (line.startsWith("$ ")) {
      commands.push({command: line.slice(2), shown: []});
    } else {
      commands.at(-1).shown.push(line);
    }
  }
  return commands;
}

/** Files that the examples of a document use: fences in YAML whose first line is "# name.yaml". */
export function filesOf(text) {
  const files = new Map();
  for (const [, name, body] of text.matchAll(/^```yaml\n# ([\w.-]+\.yaml)\n([\s\S]*?)^```$/gm)) files.set(name, body);
  return files;
}

const rowOf = (cells) => (cells[0] === "---" ? `|${cells.join("|")}|` : `| ${cells.join(" | ")} |`.replaceAll(/\|  (?=\|)/g, "| "));

/** What of an output a document shows, given what it shows now: all of it, or up to "...". */
function shownOf(output, shown) {
  if (shown.at(-1) !== "...") return output;
  return [...output.slice(0, shown.length - 1), "..."];
}

/**
 * The text with everything made anew. `make` answers what is asked for, or undefined to leave it as it is:
 * make.output(command, long) gives lines, make.table(name) rows of cells, make.words(name) a string.
 * `changed` is told about each difference: the line where it begins, what it is, old and new lines.
 */
export async function renewed(text, make, changed) {
  const lines = text.split("\n");
  const out = [];
  const put = (line, what, before, after) => {
    if (before.join("\n") !== after.join("\n")) changed(line + 1, what, before, after);
    out.push(...after);
  };
  for (let i = 0; i < lines.length; ++i) {
    if (lines[i] === "```" && lines[i + 1]?.startsWith("$ infold")) {
      const end = lines.indexOf("```", i + 1);
      const long = lines[i - 1] === "<!-- long -->";
      out.push(lines[i]);
      let at = i + 1;
      for (const {command, shown} of commandsOf(lines.slice(i + 1, end))) {
        const output = shown.length === 0 ? undefined : await make.output(command, long);
        out.push(`$ ${command}`);
        put(at, `$ ${command}`, shown, output === undefined ? shown : shownOf(output, shown));
        at += 1 + shown.length;
      }
      out.push(lines[end]);
      i = end;
    } else if (lines[i].startsWith("```")) {
      const end = lines.indexOf("```", i + 1); // a fence of another kind holds no marks
      out.push(...lines.slice(i, end + 1));
      i = end;
    } else if (kMade.test(lines[i])) {
      const name = kMade.exec(lines[i])[1];
      let end = i + 1;
      while (lines[end]?.startsWith("|")) ++end;
      const before = lines.slice(i + 1, end);
      const rows = await make.table(name);
      out.push(lines[i]);
      put(i + 1, name, before, rows === undefined ? before : rows.map(rowOf));
      i = end - 1;
    } else {
      let line = lines[i];
      for (const [whole, name, words] of lines[i].matchAll(kWords)) {
        const now = await make.words(name);
        if (now !== undefined && now !== words) line = line.replace(whole, () => whole.replace(`>${words}<`, () => `>${now}<`));
      }
      put(i, "words", [lines[i]], [line]);
    }
  }
  return out.join("\n");
}
