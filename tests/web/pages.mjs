// Pages to look at: each a command line, run once, with its JSON and its page.
import {execFile} from "node:child_process";
import {mkdtemp, readFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import path from "node:path";
import {fileURLToPath} from "node:url";
import {promisify} from "node:util";

const here = path.dirname(fileURLToPath(import.meta.url));
export const binary = process.env.INFOLD_BINARY ?? path.join(here, "../../build/release/infold");
const step = ["--system", "hgx-h100", "--gpus", "2", "--model", "mlp", "--batch", "512", "--bucket", "1MiB"];
// A small decoder, on a part of the machine.
const blocks = ["--system", "hgx-h100", "--gpus", "4", "--model", path.join(here, "../cli/files/decoder.yaml"), "--batch", "2", "--dtype", "bf16"];
export const commands = {
  bench: ["bench", "all_reduce", "-b", "4K", "-e", "256K", "-f", "2", "-g", "4", "--system", "hgx-h100", "--what-if", "inc", "--algo", "ring,nvls,inc-push"],
  "bench-one-size": ["bench", "all_reduce", "-b", "64K", "-e", "64K", "--system", "dgx-a100", "--algo", "ring,tree"],
  train: ["train", ...step],
  "train-fsdp": ["train", ...blocks, "--sync", "fsdp"],
  "train-tp": ["train", ...blocks, "--tp", "2"],
  "train-pp": ["train", ...blocks, "--pp", "2", "--micro-batches", "4", "--schedule", "zero-bubble"],
  "train-one-gpu": ["train", "--model", "lenet", "--gpus", "1"],
  compare: ["compare", ...step, "--what-if", "inc", "--algo", "ring,tree,inc-push"],
  doctor: ["doctor", "--system", path.join(here, "../cli/files/small.yaml"), "--log", path.join(here, "../cli/files/formats/link-missing.txt")],
  explain: ["explain", ...step],
  kernel: ["bench", "gemm", "-m", "1024", "-n", "1024", "-k", "1024", "--beside", "all_reduce", "--size", "1M", "--system", "hgx-h100"],
  validate: ["validate", path.join(here, "../cli/files/validation.yaml"), "--only", "ring", "--only", "twice"],
  sweep: ["sweep", path.join(here, "sweep.yaml")],
  winners: ["sweep", path.join(here, "winners.yaml")],
  study: ["study", path.join(here, "study.yaml")],
  thesis: ["study", path.join(here, "../cli/files/sentences.yaml")],
};

export async function makePages() {
  const folder = await mkdtemp(path.join(tmpdir(), "infold-pages-"));
  const pages = {};
  for (const [name, words] of Object.entries(commands)) {
    const file = path.join(folder, `${name}.html`);
    const quiet = ["doctor", "validate", "sweep"].includes(words[0]) ? [] : ["--no-timing"]; // these never say how long it took
    const kept = words[0] === "sweep" ? ["--out", path.join(folder, name)] : [];
    const {stdout} = await promisify(execFile)(binary, [...words, ...kept, "--json", ...quiet, "--report", file]);
    pages[name] = {file, json: JSON.parse(stdout), html: await readFile(file, "utf8")};
  }
  return {folder, pages};
}
