// What a page shows although the machine cannot do it: in-network algorithms where the switches are not built for them.
import {Result} from "./payload";
import {list} from "./format";
import {methodName} from "./methods";

interface Ran {
  algo: string;
  engine?: string;
  system: string;
  hypothetical?: boolean;
}

function ranIn(result: Result): Ran[] {
  switch (result.command) {
    case "bench":
      return "kernel" in result ? (result.beside === undefined ? [] : [result.beside]) : result.results;
    case "train":
    case "explain":
      return [result];
    case "compare":
      return result.rows;
    case "study":
      return [
        ...result.cases.flatMap((c) => c.rows),
        ...result.windows.flatMap((w) => w.methods.map((m) => ({algo: m.method, system: w.system, hypothetical: m.hypothetical}))),
      ];
    case "sweep":
      return result.rows.flatMap((row) =>
        row.hypothetical === true ? [{algo: String(row.algo ?? row["--algo"] ?? "a point"), system: String(row.system ?? row["--system"] ?? "its machine"), hypothetical: true}] : [],
      );
    case "doctor":
    case "validate":
      return [];
  }
}

/** "Hypothetical: inc-push on dgx-a100 and hgx-h100; ...", or nothing. */
export function hypotheticalNotes(result: Result): string[] {
  const systems = new Map<string, Set<string>>();
  for (const ran of ranIn(result)) {
    if (ran.hypothetical !== true) continue;
    const name = methodName(ran.algo, ran.engine);
    systems.set(name, (systems.get(name) ?? new Set()).add(ran.system));
  }
  if (systems.size === 0) return [];
  const said = [...systems].map(([name, on]) => `${name} on ${list([...on])}`);
  return [`Hypothetical: ${said.join("; ")}. The switches of these machines are not built to do this; it is simulated as if they were.`];
}
