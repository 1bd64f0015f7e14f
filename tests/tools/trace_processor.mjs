// Perfetto's own trace processor, the engine behind ui.perfetto.dev, over a trace file: rows of an SQL query.
// tools/setup takes it from the npm registry; where it comes from is in docs/trace.md.
import {existsSync, readFileSync} from "node:fs";
import path from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";
import vm from "node:vm";
import {MessageChannel} from "node:worker_threads";

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), "perfetto");
export const havePerfetto = existsSync(path.join(folder, "trace_processor.wasm"));

/** The engine is made for a browser's worker. This is as much of one as it asks for; `ready` when it takes requests. */
function workerScope(wasm, ready) {
  const scope = {console: {log() {}, warn() {}, error() {}}, TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout, TypeError, Uint8Array};
  scope.self = scope;
  scope.location = {href: "trace_processor/"};
  scope.WorkerGlobalScope = class {};
  scope.XMLHttpRequest = class {
    response = wasm;
    open() {}
    send() {}
  };
  scope.WebAssembly = {
    RuntimeError: WebAssembly.RuntimeError,
    // It tries a module that is nothing but memory of 64 bits first; the file has memory of 32.
    Module: function (bytes) {
      const kMemorySection = 5;
      if (bytes[8] === kMemorySection) throw new Error("no memory of 64 bits");
      return new WebAssembly.Module(bytes);
    },
    Instance: function (module, imports) {
      const {exports} = new WebAssembly.Instance(module, imports);
      const begin = (...args) => {
        setImmediate(ready);
        return exports.trace_processor_rpc_init(...args);
      };
      return {exports: {...exports, trace_processor_rpc_init: begin}};
    },
  };
  return vm.createContext(scope);
}

export async function openTrace(file) {
  const {EngineBase} = await import(pathToFileURL(path.join(folder, "engine.mjs")).href);
  let scope;
  await new Promise((ready) => {
    scope = workerScope(readFileSync(path.join(folder, "trace_processor.wasm")), ready);
    vm.runInContext(readFileSync(path.join(folder, "engine_bundle.node.js"), "utf8"), scope);
  });
  const {port1, port2} = new MessageChannel();
  scope.onmessage({data: port1});
  class Engine extends EngineBase {
    rpcSendRequestBytes(data) {
      port2.postMessage(data);
    }
  }
  const engine = new Engine();
  port2.on("message", (data) => engine.onRpcResponseBytes(data));
  await engine.parse(new Uint8Array(readFileSync(file)));
  await engine.notifyEof();
  return {
    async rows(sql) {
      const {warn} = console;
      console.warn = () => {}; // the decoder is a little older, and says so for each field it does not know
      const result = await engine.query(sql).finally(() => (console.warn = warn));
      const rows = [];
      for (const it = result.iter({}); it.valid(); it.next()) {
        const value = (v) => (typeof v === "bigint" ? Number(v) : v);
        rows.push(Object.fromEntries(result.columns().map((c) => [c, value(it.get(c))])));
      }
      return rows;
    },
    close() {
      port1.close();
      port2.close();
    },
  };
}
