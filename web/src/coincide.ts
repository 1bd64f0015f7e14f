// Lines with the same values hide each other: those below are drawn wider, with larger symbols, so that all are seen.

type Point = readonly [number, number];

const kWider = 4; // pixels, for each line that covers one
const kMost = 3;

/**
 * For each line, how much wider it is: by how many later lines (which are drawn over it) have the same value in most of its points.
 * On a logarithmic axis values are the same that differ by little of themselves, else by little of the largest.
 */
export function widening(lines: Point[][], logarithmic: boolean): number[] {
  const high = lines.flat().reduce((most, [, value]) => Math.max(most, Math.abs(value)), 0);
  const same = (a: number, b: number) => Math.abs(a - b) <= (logarithmic ? Math.abs(a) * 0.05 : high * 0.004);
  const byPlace = lines.map((line) => new Map(line));
  return lines.map((line, i) => {
    const over = byPlace.slice(i + 1).filter((later) => line.filter(([x, value]) => later.has(x) && same(later.get(x)!, value)).length * 2 > line.length);
    return kWider * Math.min(over.length, kMost);
  });
}
