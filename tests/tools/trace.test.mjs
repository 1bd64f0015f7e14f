// The files of --trace through readers that are not ours. protoc takes them apart without knowing what they mean
// (--decode_raw), and what it prints is held against what Perfetto's format asks for; then Perfetto's own trace processor
// must have read the same from the file.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdtempSync, openSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {havePerfetto, openTrace} from "./trace_processor.mjs";

const binary = process.env.INFOLD_BINARY ?? "build/release/infold";
const folder = mkdtempSync(path.join(tmpdir(), "infold-trace-"));
after(() => rmSync(folder, {recursive: true}));

// Numbers of the format's fields.
const kPacket = 1, kTimestamp = 8, kEvent = 11, kInterned = 12, kDescriptor = 60;
const kType = 9, kName = 10, kTrack = 11, kValue = 44, kFlow = 47, kFlowEnds = 48, kAnnotation = 4;
const kBegin = 1, kEnd = 2, kCounter = 4;

/** protoc's text as a tree: field number -> list of values, in the order of the file. */
function decode(file) {
  const text = execFileSync("protoc", ["--decode_raw"], {stdio: [openSync(file, "r"), "pipe", "inherit"], maxBuffer: 1 << 30}).toString();
  const stack = [new Map()];
  const add = (key, value) => {
    const fields = stack[stack.length - 1];
    fields.set(key, [...(fields.get(key) ?? []), value]);
  };
  const top = [];
  for (const line of text.split("\n")) {
    const open = line.match(/^\s*(\d+) \{$/);
    const field = line.match(/^\s*(\d+): (.*)$/);
    if (open) {
      const inner = new Map();
      if (stack.length === 1) top.push([Number(open[1]), inner]);
      else add(Number(open[1]), inner);
      stack.push(inner);
    } else if (field) add(Number(field[1]), field[2]);
    else if (line.trim() === "}") stack.pop();
  }
  assert.ok(top.every(([key]) => key === kPacket), "a trace consists of packets");
  return top.map(([, packet]) => packet);
}

// Some short words could be messages as well, and protoc takes them for that.
const text = (value) => (value instanceof Map ? "(could be a message)" : JSON.parse(value));
function number(value) {
  if (!value.startsWith("0x")) return Number(value);
  const bits = new DataView(new ArrayBuffer(8));
  bits.setBigUint64(0, BigInt(value));
  return bits.getFloat64(0);
}

/** The trace as its reader would build it. */
function load(file) {
  const tracks = new Map();
  const names = new Map();
  const events = [];
  for (const packet of decode(file)) {
    for (const d of packet.get(kDescriptor) ?? []) {
      const process = d.get(3)?.[0];
      const parent = d.get(5)?.[0];
      if (parent !== undefined) assert.ok(tracks.has(parent), "a parent comes before its child");
      tracks.set(d.get(1)[0], {name: text(process ? process.get(6)[0] : d.get(2)[0]), parent, counter: d.has(8), unit: d.get(8)?.[0]?.get?.(6)?.[0]});
    }
    for (const interned of packet.get(kInterned) ?? []) for (const n of interned.get(2)) names.set(n.get(1)[0], text(n.get(2)[0]));
    for (const e of packet.get(kEvent) ?? []) {
      const track = e.get(kTrack)[0];
      assert.ok(tracks.has(track), `track ${track} is described`);
      const type = Number(e.get(kType)[0]);
      const name = type === kBegin ? names.get(e.get(kName)[0]) : undefined;
      if (type === kBegin) assert.ok(name, "a span has a name");
      events.push({at: Number(packet.get(kTimestamp)[0]), type, track, name, value: e.get(kValue)?.[0], flows: e.get(kFlow) ?? [], ends: e.get(kFlowEnds) ?? [], notes: e.get(kAnnotation) ?? []});
    }
  }
  return {tracks, events, path: (id) => (tracks.get(id).parent ? `${tracks.get(tracks.get(id).parent).name} / ${tracks.get(id).name}` : tracks.get(id).name)};
}

/** What must hold for every trace. Returns the spans by track, each with the one around it. */
function check(trace) {
  const byTrack = new Map();
  trace.events.forEach((e) => byTrack.set(e.track, [...(byTrack.get(e.track) ?? []), e]));
  const spans = [];
  for (const [track, all] of byTrack) {
    const events = all.map((e, i) => [e, i]).sort(([a, i], [b, j]) => a.at - b.at || i - j).map(([e]) => e);
    if (trace.tracks.get(track).counter) {
      assert.ok(events.every((e) => e.type === kCounter));
      assert.equal(number(events[events.length - 1].value), 0, `${trace.path(track)} ends at zero`);
      assert.ok(events.every((e) => number(e.value) >= 0), `${trace.path(track)} is never negative`);
      continue;
    }
    const open = [];
    for (const e of events) {
      if (e.type === kBegin) {
        const span = {...e, path: trace.path(track), around: open[open.length - 1]};
        open.push(span);
        spans.push(span);
      } else {
        assert.equal(e.type, kEnd);
        assert.ok(open.length > 0, `${trace.path(track)}: nothing to end`);
        open.pop().until = e.at;
      }
    }
    assert.equal(open.length, 0, `${trace.path(track)}: all ends`);
  }
  for (const s of spans) if (s.around) assert.ok(s.at >= s.around.at && s.until <= s.around.until, `${s.path}: ${s.name} lies inside ${s.around.name}`);
  const from = new Map();
  const to = new Map();
  for (const s of spans) {
    for (const f of s.flows) assert.ok(!from.has(f) && from.set(f, s), "a flow begins once");
    for (const f of s.ends) assert.ok(!to.has(f) && to.set(f, s), "a flow ends once");
  }
  assert.deepEqual([...from.keys()].sort(), [...to.keys()].sort(), "every flow has two ends");
  for (const [f, s] of from) assert.ok(s.at <= to.get(f).at, `${s.name} before ${to.get(f).name}`);
  return {spans, flows: [...from].map(([f, s]) => [s, to.get(f)])};
}

/** What Perfetto itself makes of the file: nothing lost, the same spans inside each other, arrows and counters. */
async function checkWithPerfetto(file, trace, {spans, flows}) {
  if (!havePerfetto) return;
  const perfetto = await openTrace(file);
  const one = async (sql) => (await perfetto.rows(sql))[0].n;
  assert.deepEqual(await perfetto.rows("SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"), []);
  assert.equal(await one("SELECT count(*) AS n FROM slice"), spans.length);
  assert.equal(await one("SELECT count(*) AS n FROM slice WHERE dur < 0"), 0, "every span has an end");
  assert.equal(await one("SELECT count(*) AS n FROM slice JOIN slice AS parent ON slice.parent_id = parent.id"), spans.filter((s) => s.around).length);
  assert.equal(await one("SELECT count(*) AS n FROM slice JOIN slice AS parent ON slice.parent_id = parent.id WHERE slice.ts < parent.ts OR slice.ts + slice.dur > parent.ts + parent.dur"), 0);
  const arrows = "FROM flow JOIN slice AS a ON slice_out = a.id JOIN slice AS b ON slice_in = b.id";
  const drawn = await perfetto.rows(`SELECT a.name AS a, b.name AS b ${arrows} WHERE a.ts <= b.ts`);
  assert.deepEqual(drawn.map((f) => `${f.a} -> ${f.b}`).sort(), flows.map(([a, b]) => `${a.name} -> ${b.name}`).sort());
  const last = await perfetto.rows("SELECT track.name, value, max(ts) FROM counter JOIN track ON counter.track_id = track.id GROUP BY track.id");
  assert.equal(last.length, [...trace.tracks.entries()].filter(([id, t]) => t.counter && trace.events.some((e) => e.track === id)).length);
  assert.deepEqual(last.filter((c) => c.value !== 0), [], "counters end at zero");
  const named = (await perfetto.rows("SELECT DISTINCT name FROM process WHERE name IS NOT NULL")).map((p) => p.name).sort();
  assert.deepEqual(named, [...new Set([...trace.tracks.values()].filter((t) => t.parent === undefined).map((t) => t.name))].sort());
  perfetto.close();
}

async function run(...words) {
  const file = path.join(folder, `${words.length}-${words[0]}.pftrace`);
  // How often it looks has a meaning only where it does.
  const at = words.indexOf("--trace-interval");
  const unwatched = words.filter((_, i) => at < 0 || i < at || i > at + 1);
  const quiet = execFileSync(binary, [...unwatched, "--json", "--no-timing"], {maxBuffer: 1 << 28}).toString();
  const loud = execFileSync(binary, [...words, "--json", "--no-timing", "--trace", file], {maxBuffer: 1 << 28}).toString();
  assert.equal(loud, quiet, "looking changes nothing");
  const trace = load(file);
  const found = check(trace);
  await checkWithPerfetto(file, trace, found);
  return {trace, json: JSON.parse(quiet), ...found};
}

test("a training step: kernels inside phases, arrows from a gradient to its bucket to its collective", async () => {
  const {trace, json, spans, flows} = await run("train", "--system", "hgx-h100", "--gpus", "2", "--model", "mlp", "--batch", "64", "--bucket", "1MiB");
  for (const gpu of ["gpu0", "gpu1"]) {
    const here = spans.filter((s) => s.path === `${gpu} / compute stream`);
    assert.deepEqual(here.filter((s) => !s.around).map((s) => s.name).filter((n) => !n.includes("out of its bucket")), ["forward", "backward", "optimizer"]);
    assert.ok(here.filter((s) => s.around?.name === "backward").length > 3);
    const collectives = spans.filter((s) => s.path === `${gpu} / communication stream`);
    assert.equal(collectives.length, json.buckets.length);
    for (const counter of ["SMs of compute", "SMs of collectives", "HBM of compute", "links out", "links in", "in flight from here"])
      assert.ok([...trace.tracks.keys()].some((id) => trace.path(id) === `${gpu} / ${counter}`), counter);
    const filled = flows.filter(([a, b]) => a.path === `${gpu} / compute stream` && b.path.startsWith(`${gpu} / buckets`));
    const reduced = flows.filter(([a, b]) => a.path.startsWith(`${gpu} / buckets`) && b.path === `${gpu} / communication stream`);
    assert.ok(filled.length >= json.buckets.length);
    assert.equal(reduced.length, json.buckets.length);
  }
  const last = spans.filter((s) => s.path.endsWith("communication stream")).reduce((t, s) => Math.max(t, s.until), 0);
  assert.ok(Math.abs(last / 1e6 - Math.max(...json.buckets.map((b) => b.end_ms))) < 0.001, "times are those of the JSON");
  const notes = spans.flatMap((s) => s.notes).map((n) => text(n.get(10)[0]));
  for (const said of ["command", "sampling interval", "spans at most", "spans left out", "samples at most"]) assert.ok(notes.includes(said), said);
});

test("in-network collectives: the switches' tables, one run after the other", async () => {
  const {trace, spans, json} = await run("bench", "all_reduce", "-b", "64K", "-e", "256K", "-f", "2", "-g", "4", "--system", "hgx-h100", "--what-if", "inc", "--algo", "inc-push,ring", "--trace-interval", "100ns");
  const tables = [...trace.tracks.keys()].filter((id) => trace.path(id).endsWith("/ reduction table"));
  assert.ok(tables.length > 0);
  assert.ok(trace.events.some((e) => tables.includes(e.track) && number(e.value) > 0), "a table was in use");
  assert.equal(spans.filter((s) => s.path === "infold / runs").length, json.results.length);
  assert.ok(spans.some((s) => s.path.includes("channel 0") && s.name === "recv-reduce-send"));
});

test("in-network collectives: what engines and workgroups do, and what they wait for", async () => {
  const on = (spans, label) => spans.filter((s) => s.path.startsWith("gpu1") && s.path.endsWith(label)).map((s) => s.name);
  const words = ["bench", "all_reduce", "-b", "1M", "-e", "1M", "-g", "4", "--system", "hgx-h100", "--what-if", "inc"];
  const nvls = (await run(...words, "--algo", "nvls")).spans;
  assert.deepEqual([...new Set(on(nvls, "/ channel 0: scatter"))], ["copies in round 0"]);
  assert.deepEqual([...new Set(on(nvls, "/ channel 0: reduce"))], ["polls: has everybody staged?", "switches reduce round 0"]);
  assert.deepEqual([...new Set(on(nvls, "/ channel 0: gather"))], ["waits for sums", "copies out round 0"]);
  const push = (await run(...words, "--algo", "inc-push", "--set", "inc.wave=64KiB", "--set", "inc.waves=2")).spans;
  assert.deepEqual(on(push, "/ engine"), ["sets up", "reduce-write", "waits for results"]);
  const waves = push.filter((s) => s.path.startsWith("gpu1") && s.path.includes("engine: waves")).sort((a, b) => a.until - b.until);
  assert.deepEqual(waves.map((s) => s.name), Array.from({length: 16}, (_, i) => `wave ${i}`));
  for (const [i, wave] of waves.entries()) if (i >= 2) assert.ok(wave.at >= waves[i - 2].until, "two waves at a time");
  const pull = (await run(...words, "--algo", "inc-pull")).spans;
  assert.ok(on(pull, "/ engine").includes("meet"));
  for (const what of ["answers", "results"]) assert.equal(on(pull, `/ engine: ${what}`).at(-1), `${what} up to 16 of 16`);
});

test("a comparison: the variants beside each other", async () => {
  const {trace, spans} = await run("compare", "--system", "hgx-h100", "--gpus", "2", "--model", "mlp", "--batch", "64", "--algo", "ring");
  const names = [...trace.tracks.values()].map((t) => t.name);
  for (const variant of ["sequential", "overlap", "ideal"]) assert.ok(names.some((n) => n.startsWith("gpu1") && n.includes(variant)), variant);
  assert.equal(spans.filter((s) => s.path.startsWith("infold / runs")).length, 3);
});

test("one GPU", async () => {
  const {spans} = await run("train", "--model", "lenet", "--gpus", "1");
  assert.ok(spans.filter((s) => s.around?.name === "forward").length > 3);
});

test("Perfetto's own reader was there", {skip: havePerfetto ? false : "tools/setup test fetches it from the npm registry"}, () => {});
