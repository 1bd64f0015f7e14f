// What infold wrote into the page: the command's own JSON, the line that was typed, the parameters.

export interface BenchResult {
  system: string;
  gpus: number;
  algo: string;
  proto: string;
  auto: boolean;
  engine: string;
  bytes: number;
  time_us: number;
  algbw_gbps: number;
  busbw_gbps: number;
  busbw_bound_gbps: number;
  wrong: number | null;
  sms: number;
  /** Of in-network algorithms: the machine's switches are not built to do this. */
  hypothetical?: boolean;
}
export interface Bench {
  command: "bench";
  collective: string;
  system: string;
  gpus: number;
  dtype: string;
  op: string;
  results: BenchResult[];
}

export interface KernelBench {
  command: "bench";
  kernel: string;
  gpu: string;
  dtype: string;
  shape: Record<string, string>;
  time_us: number;
  tflops: number;
  hbm_gbps: number;
  l2_hit: number;
  waves: number;
  workgroups: number;
  flops: number;
  hbm_bytes: number;
  l2_bytes: number;
  beside?: {
    collective: string;
    system: string;
    algo: string;
    proto: string;
    engine: string;
    bytes: number;
    sms: number;
    kernel_alone_us: number;
    kernel_us: number;
    collective_alone_us: number;
    collective_us: number;
    kernel_slowdown: number;
    collective_slowdown: number;
    hypothetical?: boolean;
    actors: Record<string, {hbm_bytes: number; l2_bytes: number; sm_us: number}>;
  };
}

export interface Bucket {
  index: number;
  bytes: number;
  algo: string;
  proto: string;
  ready_ms: number;
  start_ms: number;
  end_ms: number;
}
/** When the parts of a step's last pass began, on the clock of its buckets. */
export interface LastPass {
  backward_start: number;
  backward_end: number;
  optimizer_start: number;
  end: number;
}
/** All of one kind of communication on one communicator, as one rank saw it. */
export interface Communication {
  name: string;
  collective: string;
  algo: string;
  ranks: number;
  calls: number;
  bytes: number;
  busy_ms: number;
  exposed_ms: number;
}
export interface KernelClass {
  class: string;
  kernels: number;
  alone_ms: number;
  beside_ms: number;
  slowdown: number;
}
/** A pass of a micro-batch through a stage; the update of its weights belongs to none. */
export interface StagePass {
  stage: number;
  pass: "forward" | "backward" | "input-gradient" | "weight-gradient" | "optimizer";
  micro_batch: number | null;
  chunk?: number | null;
  start_ms: number;
  end_ms: number;
}
/** A training step, as train, compare, explain and study write it. */
export interface Step {
  system: string;
  gpus: number;
  model: string;
  batch: number;
  accumulate: number;
  tokens: number;
  dtype: string;
  fusion: string;
  optimizer: string;
  sync: string;
  overlap: boolean;
  algo: string;
  engine?: string;
  /** What belongs to no phase, as before the first kernel, is waiting. */
  phases_ms: {forward: number; backward: number; exposed_comm: number; optimizer: number; waiting?: number; step: number};
  backward_alone_ms: number;
  backward_slowdown: number;
  slowdown_while_communicating?: number;
  comm_busy_ms: number;
  comm_in_backward_ms?: number;
  comm_sms?: number;
  samples_per_s: number;
  hypothetical?: boolean;
  recompute?: string;
  parallel?: {dp: number; tp: number; pp: number; ep: number; cp: number; sync: string};
  micro_batches?: number;
  schedule?: string;
  virtual_stages?: number;
  parameters?: number;
  tokens_per_s_per_gpu?: number;
  mfu?: number;
  exposed_comm_ms?: number;
  bubble_ms?: number;
  comm?: Communication[];
  kernels?: KernelClass[];
  last_pass_ms?: LastPass;
  buckets?: Bucket[];
}
export interface Train extends Step {
  command: "train";
  kernel_ms?: Record<string, number>;
  pipeline?: StagePass[];
  memory_bytes: Record<string, number>;
}
export interface Row extends Step {
  variant: "sequential" | "overlap" | "ideal";
  speedup_vs_sequential: number;
  repaired: number | null;
}
export interface Compare {
  command: "compare";
  ring_slowdown: number;
  rows: Row[];
}
export interface CausePart {
  cause: string;
  slowdown: number;
}
export interface Explain extends Step {
  command: "explain";
  causes: CausePart[];
  step_slowdown: number;
  step_causes: CausePart[];
  sentence: string;
}
export interface StudyWindow {
  system: string;
  gpus: number;
  bytes: number[];
  /** Larger sizes are extrapolated. */
  simulated_to_bytes?: number;
  methods: {method: string; time_us: number[]; hypothetical?: boolean; wins_from_bytes?: number; wins_to_bytes?: number}[];
}
/** What a study shows, where it says so in the four sentences of the thesis. */
export interface Sentence {
  claim: string;
  number: number;
  system: string;
  algo: string;
  value: number;
  unit: string;
  holds: boolean;
  said: string;
}
export interface Study {
  command: "study";
  study: string;
  summary?: string;
  sentences?: Sentence[];
  mean_slowdown_while_communicating: number;
  cases: {communication_heavy: boolean; fastest: string; rows: Row[]; refused: {method: string; why: string}[]; causes?: {cause: string; slowdown: number}[]}[];
  windows: StudyWindow[];
}
export interface ValidateRow {
  id: string;
  source: string;
  quantity: string;
  unit: string;
  published: number;
  simulated: number | null;
  error: number | null;
  accept: number;
  within: boolean;
  calibrated: boolean;
  command: string;
  missing?: string;
}
export interface Validate {
  command: "validate";
  rows: ValidateRow[];
  summary: {rows: number; within: number; failed: number; geomean_abs_error: number};
}
export type SweepCell = string | number | boolean | null;
export interface Sweep {
  command: "sweep";
  name: string;
  summary: string;
  /** What is typed after infold, without what varies. */
  of: string;
  /** Columns that walk together stand together. */
  axes: string[][];
  show: string[];
  /** Asks which algorithm is the fastest. */
  winners: boolean;
  points: number;
  done: number;
  refused: number;
  failed: number;
  database: string;
  csv: string;
  rows: Record<string, SweepCell>[];
}
export interface DoctorRow {
  collective: string;
  gpus: number;
  bytes: number;
  measured_us: number;
  expected_us: number;
  allowed_us: number;
  best_cause_us: number | null;
  algo: string;
  proto: string;
}
export interface Doctor {
  command: "doctor";
  system: string;
  verdict: "as-expected" | "lost" | "unclear";
  cause: string | null;
  same_as: string[];
  margin: number | null;
  check: string | null;
  fit: number;
  notes: string[];
  rows: DoctorRow[];
  causes: {cause: string; degree: string; fit: number; about: string}[];
}
export type Result = Bench | KernelBench | Train | Compare | Doctor | Explain | Study | Validate | Sweep;

/** Chips are numbered, GPUs first; a link is all cables from one to another. */
export interface Machine {
  label: string;
  /** Of the message; 0 where there were several. */
  bytes: number;
  gpus: number;
  nodes: number;
  links: [from: number, to: number, cables: number, mean: number, busiest: number][];
}
export interface Published {
  system: string;
  algo: string;
  bytes: number;
  time_us: number;
  source: string;
}

/** What counters of a run's first GPU showed: from at_ms[i] on, values[i]. */
export interface Counters {
  /** Of the result's rows. */
  row: number;
  gpu: string;
  lines: {name: string; unit: string; at_ms: number[]; values: number[]}[];
}

/** From at_ms[i] on, so many bytes beside those that are kept for the whole step. */
export interface MemoryLine {
  kept: number;
  at_ms: number[];
  activations: number[];
  gathered?: number[];
}
/** When what happened in a step: of one rank, and memory of each stage or of all ranks. */
export interface History {
  compute: [phase: "forward" | "backward" | "optimizer", start_ms: number, end_ms: number][];
  communication: {name: string; collective: string; spans: [start_ms: number, end_ms: number][]}[];
  memory: MemoryLine[];
}

export interface Parameter {
  path: string;
  value: string;
  meaning: string;
}
export interface PageSystem {
  name: string;
  summary: string;
  parameters: Parameter[];
}
export interface Payload {
  infold: string;
  typed: string;
  systems: PageSystem[];
  machines: Machine[];
  published: Published[];
  counters: Counters[];
  history: History | null;
  result: Result;
}
