// Which command has which page.
import {Payload} from "./payload";
import {View} from "./view";
import {benchView} from "./bench";
import {compareView} from "./compare";
import {doctorView} from "./doctor";
import {explainView} from "./explain";
import {hypotheticalNotes} from "./hypothetical";
import {kernelView} from "./kernel";
import {machineFigures} from "./machine";
import {studyView} from "./study";
import {sweepView} from "./sweep";
import {thesisView} from "./thesis";
import {trainView} from "./train";
import {validateView} from "./validate";

function viewOfResult({result, published, counters, history, systems}: Payload): View {
  switch (result.command) {
    case "bench":
      return "kernel" in result ? kernelView(result) : benchView(result, published);
    case "train":
      return trainView(result, counters, history, systems);
    case "compare":
      return compareView(result, counters);
    case "doctor":
      return doctorView(result);
    case "explain":
      return explainView(result);
    case "study":
      return result.sentences === undefined ? studyView(result) : thesisView(result);
    case "sweep":
      return sweepView(result);
    case "validate":
      return validateView(result);
  }
}

/** How many GPUs took part, where it is one number. */
function gpusOf({result}: Payload): number | undefined {
  if (result.command === "compare") return result.rows[0]?.gpus;
  return "gpus" in result ? result.gpus : undefined;
}

/** The page of a result, with what of it is hypothetical, and the machines it ran on at its end. */
export function viewOf(payload: Payload): View & {notes: string[]} {
  const view = viewOfResult(payload);
  return {...view, notes: hypotheticalNotes(payload.result), figures: [...view.figures, ...machineFigures(payload.machines, gpusOf(payload))]};
}
