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
  parallel?: Record<string, number | string>;
  overlap: boolean;
  algo: string;
  engine?: string;
  phases_ms: {forward: number; backward: number; exposed_comm: number; optimizer: number; step: number};
  backward_alone_ms: number;
  backward_slowdown: number;
  slowdown_while_communicating?: number;
  comm_busy_ms: number;
  comm_in_backward_ms?: number;
  comm_sms?: number;
  samples_per_s: number;
  hypothetical?: boolean;
  last_pass_ms?: LastPass;
  buckets?: Bucket[];
}
export interface Train extends Step {
  command: "train";
  kernel_ms?: Record<string, number>;
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
export interface Explain extends Step {
  command: "explain";
  causes: {cause: string; slowdown: number}[];
  sentence: string;
}
export interface StudyWindow {
  system: string;
  gpus: number;
  bytes: number[];
  methods: {method: string; time_us: number[]; hypothetical?: boolean; wins_from_bytes?: number; wins_to_bytes?: number}[];
}
export interface Study {
  command: "study";
  study: string;
  mean_slowdown_while_communicating: number;
  cases: {communication_heavy: boolean; fastest: string; rows: Row[]; refused: {method: string; why: string}[]}[];
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
  points: number;
  done: number;
  refused: number;
  failed: number;
  database: string;
  csv: string;
  rows: Record<string, SweepCell>[];
}
export type Result = Bench | KernelBench | Train | Compare | Explain | Study | Validate | Sweep;

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
  result: Result;
}
