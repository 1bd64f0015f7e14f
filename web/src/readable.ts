// Names of options and columns as people say them; what is not known keeps its name, with its unit set apart.

const kNames: Record<string, string> = {
  "--algo": "algorithm",
  algo: "algorithm",
  "--proto": "protocol",
  proto: "protocol",
  "--engine": "engine",
  "--system": "system",
  "--model": "model",
  "--batch": "batch",
  "--gpus": "GPUs",
  "-g": "GPUs",
  "-b": "smallest size",
  "-d": "type",
  "-o": "reduction",
  bytes: "message size",
  time_us: "time (us)",
  algbw_gbps: "bandwidth (GB/s)",
  busbw_gbps: "bus bandwidth (GB/s)",
  busbw_bound_gbps: "bus bandwidth that links allow (GB/s)",
  "phases_ms.step": "step (ms)",
  "phases_ms.forward": "forward (ms)",
  "phases_ms.backward": "backward (ms)",
  "phases_ms.exposed_comm": "exposed communication (ms)",
  "phases_ms.optimizer": "optimizer (ms)",
  backward_slowdown: "slow-down of backward",
  slowdown_while_communicating: "slow-down while communicating",
  speedup_vs_sequential: "speed-up against sequential",
  samples_per_s: "samples per second",
  "--skew": "GPUs late by up to",
  "inc.alu_rate": "adders",
  "inc.table_bytes": "reduction table per port",
  "inc.table_peak_entries": "most entries in a table",
  "inc.stalls": "contributions that waited",
};
const kUnits: [ending: RegExp, unit: string][] = [
  [/_us$/, "us"],
  [/_ms$/, "ms"],
  [/_gbps$/, "GB/s"],
  [/_bytes$/, "B"],
  [/_per_s$/, "per second"],
];

export function readable(name: string): string {
  const known = kNames[name];
  if (known !== undefined) return known;
  const plain = name.replace(/^-+/, "");
  if (/[^\w]/.test(plain) && !plain.includes("_ms.")) return plain; // the path of a parameter is what people type
  for (const [ending, unit] of kUnits) if (ending.test(plain)) return `${plain.replace(ending, "").replaceAll("_", " ")} (${unit})`;
  return plain.replaceAll("_", " ");
}

/** Whether less of a result is better (times, slow-downs) or more (rates, speed-ups); undefined where neither can be said. */
export function lessIsBetter(measure: string): boolean | undefined {
  if (/(^|[._])time_us$|phases_ms\.|_us$|_ms$|slowdown/.test(measure)) return true;
  if (/_gbps$|per_s$|speedup|repaired|tflops/.test(measure)) return false;
  return undefined;
}
