// Numbers as people write them.

export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let n = bytes;
  let unit = 0;
  while (n >= 1024 && unit + 1 < units.length) {
    n /= 1024;
    unit += 1;
  }
  return `${digits(n)} ${units[unit]}`;
}

/** Three digits, or all of a whole number's. */
export function digits(n: number): string {
  if (n === 0) return "0";
  const magnitude = Math.abs(n);
  if (magnitude >= 100) return n.toFixed(0);
  if (magnitude >= 1000 || Number.isInteger(n)) return String(n);
  if (magnitude >= 10) return n.toFixed(1);
  if (magnitude >= 1) return n.toFixed(2);
  return String(Number(n.toPrecision(3)));
}

export function percent(share: number): string {
  const p = share * 100;
  const text = Math.abs(p) >= 100 ? p.toFixed(0) : p.toFixed(1);
  return `${text === "-0.0" ? "0.0" : text} %`;
}

/** The same, for the round numbers of an axis. */
export function roundPercent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}

export function microseconds(us: number): string {
  if (us >= 1e6) return `${digits(us / 1e6)} s`;
  if (us >= 1e3) return `${digits(us / 1e3)} ms`;
  return `${digits(us)} us`;
}

export function milliseconds(ms: number): string {
  return microseconds(ms * 1e3);
}

/** "a, b and c" */
export function list(words: string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** all_reduce is how scripts write it; people write all-reduce. */
export function plain(name: string): string {
  return name.replaceAll("_", "-");
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
