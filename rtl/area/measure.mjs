// Area and depth of the hardware by Yosys: gate equivalents (a NAND gate with two inputs, four transistors), bits of
// memory apart, and the longest path in gates. Writes rtl/area/area.csv, which tests and docs/rtl.md read.
//   node rtl/area/measure.mjs [--check] [table bytes ...]
// --check changes nothing, and fails if what it measures differs from what is written. Takes minutes.
import {execFileSync} from "node:child_process";
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "..", "src");
const file = join(here, "area.csv");
const columns = ["table_bytes", "table_gates", "alu_gates", "buffer_gates", "sender_gates", "gates", "sram_bits", "depth"];
const sizes = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536];

/** Which part of the unit a module belongs to; modules that are not named belong to the one that has them. */
const parts = {
  reduction_table: "table_gates", table_entry: "table_gates", tag_stage: "buffer_gates", waiting_list: "buffer_gates",
  input_buffer: "buffer_gates", value_ram: "buffer_gates", reduction_alu: "alu_gates", fp_add: "alu_gates", to_bf16: "alu_gates",
  alu_queue: "alu_gates", send_queue: "sender_gates", reduction_unit: "sender_gates",
};

function script(bytes, folder) {
  const files = readdirSync(source).filter((f) => f.endsWith(".sv") && f !== "inc_types.sv").sort();
  return `
read_verilog -sv ${["inc_types.sv", ...files].map((f) => join(source, f)).join(" ")}
hierarchy -top reduction_unit -chparam TABLE_BYTES ${bytes} -chparam RESULT_BUFFER 4096
proc
opt
alumacc
techmap
opt -fast
dfflegalize -cell $_DFF_P_ x
techmap
opt_expr
opt_merge
opt_clean
abc -script ${join(folder, "abc")} -g NAND,NOR,XOR,XNOR,MUX,AOI3,OAI3
opt_clean
tee -o ${join(folder, "stat")} stat -tech cmos
flatten
opt_clean
tee -o ${join(folder, "path")} ltp -noff
`;
}

/** Gates by part, from what Yosys says of each module and how often it is there. */
function read(stat) {
  const modules = new Map();
  for (const text of stat.split(/^=== /m).slice(1)) {
    const name = text.slice(0, text.indexOf(" ==="));
    if (name === "design hierarchy") continue;
    const cells = [...text.matchAll(/^ {5}(\S+) +(\d+)$/gm)].map(([, cell, count]) => [cell, Number(count)]);
    modules.set(name, {
      cells, transistors: Number(text.match(/transistors: +(\d+)/)?.[1] ?? 0), bits: Number(text.match(/memory bits: +(\d+)/)?.[1] ?? 0),
    });
  }
  const plain = (name) => name.replace(/^\$paramod.*\\/, "").replace(/^\\/, "");
  const sum = {sram_bits: 0, ...Object.fromEntries(columns.slice(1, 5).map((c) => [c, 0]))};
  const walk = (name, times, part) => {
    const module = modules.get(name);
    const here = parts[plain(name)] ?? part;
    sum[here] += times * module.transistors / 4;
    sum.sram_bits += times * module.bits;
    for (const [cell, count] of module.cells) if (modules.has(cell)) walk(cell, times * count, here);
  };
  walk([...modules.keys()].find((m) => plain(m) === "reduction_unit"), 1, "sender_gates");
  return sum;
}

function measure(bytes) {
  const folder = mkdtempSync(join(tmpdir(), "area-"));
  try {
    writeFileSync(join(folder, "abc"), "strash; balance; map\n");
    writeFileSync(join(folder, "script"), script(bytes, folder));
    execFileSync("yosys", ["-q", "-s", join(folder, "script")], {stdio: ["ignore", "ignore", "pipe"]});
    const sum = read(readFileSync(join(folder, "stat"), "utf8"));
    const depth = Number(readFileSync(join(folder, "path"), "utf8").match(/length=(\d+)/)[1]);
    const gates = columns.slice(1, 5).reduce((all, c) => all + sum[c], 0);
    return [bytes, ...columns.slice(1, 5).map((c) => Math.round(sum[c])), Math.round(gates), sum.sram_bits, depth];
  } finally {
    rmSync(folder, {recursive: true});
  }
}

const args = process.argv.slice(2);
const check = args.includes("--check");
const wanted = args.filter((a) => a !== "--check").map(Number);
const rows = new Map();
if (existsSync(file)) {
  for (const line of readFileSync(file, "utf8").trim().split("\n").slice(1)) rows.set(Number(line.split(",")[0]), line);
}
let differs = false;
for (const bytes of wanted.length > 0 ? wanted : sizes) {
  const line = measure(bytes).join(",");
  console.log(line);
  if (check && rows.get(bytes) !== line) {
    console.error(`${file} says ${rows.get(bytes) ?? "nothing"}`);
    differs = true;
  }
  rows.set(bytes, line);
  const sorted = [...rows.entries()].sort((a, b) => a[0] - b[0]).map(([, text]) => text);
  if (!check) writeFileSync(file, [columns.join(","), ...sorted].join("\n") + "\n");
}
process.exit(differs ? 1 : 0);
