// Runs infold for the documents, in a folder of its own, and remembers what it said: one study serves several tables.
import {spawnSync} from "node:child_process";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";

export class Program {
  #folder = mkdtempSync(path.join(tmpdir(), "infold-docs-"));
  #known = new Map();
  #times = [];

  constructor(binary) {
    mkdirSync(path.join(this.#folder, "bin"));
    mkdirSync(path.join(this.#folder, "work"));
    symlinkSync(path.resolve(binary), path.join(this.#folder, "bin", "infold"));
    symlinkSync(path.resolve("tests"), path.join(this.#folder, "work", "tests")); // examples may name files of the repository
  }
  /** Files that commands may name. */
  provide(files) {
    for (const [name, text] of files) writeFileSync(path.join(this.#folder, "work", name), text);
  }
  /** What a user sees: the lines of standard output; where the command fails, those of standard error as well. */
  lines(command) {
    const done = this.#run(command);
    const text = done.status === 0 ? done.stdout : done.stdout + done.stderr;
    return text.replace(/\n$/, "").split("\n");
  }
  /** The result of a command that has --json. */
  json(command) {
    return JSON.parse(this.#good(`infold ${command} --json --no-timing`).stdout);
  }
  /** The rows of a sweep's table, each an object by column. */
  sweep(name) {
    this.#good(`infold sweep ${name} --out ${name}`);
    const [head, ...rows] = readFileSync(path.join(this.#folder, "work", `${name}.csv`), "utf8").trimEnd().split("\n").map((line) => line.split(","));
    return rows.map((row) => Object.fromEntries(head.map((column, i) => [column, row[i]])));
  }
  /** The commands that were run, slowest first. */
  times() {
    return [...this.#times].sort((a, b) => b.seconds - a.seconds);
  }
  end() {
    rmSync(this.#folder, {recursive: true});
  }

  #good(command) {
    const done = this.#run(command);
    if (done.status !== 0) throw new Error(`${command}: exit code ${done.status}\n${done.stderr}`);
    return done;
  }
  #run(command) {
    if (!this.#known.has(command)) {
      const started = performance.now();
      const env = {...process.env, PATH: `${path.join(this.#folder, "bin")}:${process.env.PATH}`, LC_ALL: "C.UTF-8"};
      const done = spawnSync("bash", ["-c", command], {cwd: path.join(this.#folder, "work"), env, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"]});
      if (done.error) throw done.error;
      this.#known.set(command, done);
      this.#times.push({command, seconds: (performance.now() - started) / 1000});
    }
    return this.#known.get(command);
  }
}
