// Values as people type them ("64 KiB", "2us", "1.5 GHz"), as numbers that can be put on an axis.

const kUnits: Record<string, [kind: string, factor: number]> = {
  "": ["number", 1],
  B: ["size", 1],
  ...Object.fromEntries(["K", "M", "G", "T"].flatMap((p, i) => [p, `${p}B`, `${p}iB`].map((u) => [u, ["size", 1024 ** (i + 1)]] as [string, [string, number]]))),
  ps: ["time", 1e-12],
  ns: ["time", 1e-9],
  us: ["time", 1e-6],
  ms: ["time", 1e-3],
  s: ["time", 1],
  Hz: ["clock", 1],
  kHz: ["clock", 1e3],
  MHz: ["clock", 1e6],
  GHz: ["clock", 1e9],
  "MB/s": ["rate", 1e6],
  "GB/s": ["rate", 1e9],
  "TB/s": ["rate", 1e12],
  "Mbit/s": ["rate", 1e6 / 8],
  "Gbit/s": ["rate", 1e9 / 8],
  "%": ["share", 0.01],
};

/** All of them as numbers of one kind, or null if one is none. */
export function quantities(texts: string[]): number[] | null {
  let kind: string | undefined;
  const numbers = texts.map((text) => {
    const parts = text.trim().match(/^(-?\d+(?:\.\d+)?(?:e-?\d+)?)\s*(\D*)$/i);
    const unit = parts ? kUnits[parts[2].trim()] : undefined;
    if (!parts || !unit) return NaN;
    // "0" is as much as "0 us".
    if (Number(parts[1]) !== 0 || unit[0] !== "number") kind ??= unit[0];
    return kind === undefined || unit[0] === kind || Number(parts[1]) === 0 ? Number(parts[1]) * unit[1] : NaN;
  });
  return numbers.every(Number.isFinite) ? numbers : null;
}
