// The arithmetic of a chart: round numbers for its axis, and the names that fit below it.

const STEPS = [1, 2, 5, 10];

/** About `count` round numbers, from the least value (or 0) to the greatest. */
export function findTicks(values: readonly number[], count: number): number[] {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / count));
  const rough = power * STEPS.find((factor) => factor * power * count >= span * (1 - 1e-9))!;
  // There is no half of a call.
  const step = values.every(Number.isInteger) ? Math.max(rough, 1) : rough;
  const first = Math.floor(low / step + 1e-9);
  const last = low === high ? 1 : Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, n) => withoutDust((first + n) * step));
}

/** Without what binary fractions add: 0.30000000000000004. */
const withoutDust = (n: number): number => Number(n.toPrecision(12));

interface Label {
  index: number;
  /** Its middle. */
  x: number;
}

/** Space between two names. */
const GAP = 10;

/**
 * The names that are written below the slots between `left` and `right`: regularly chosen, within
 * the chart, and none touching another.
 */
export function arrangeLabels(
  widths: readonly number[],
  { left, right }: { left: number; right: number },
): Label[] {
  const slot = (right - left) / Math.max(widths.length, 1);
  const stride = Math.max(1, Math.ceil((Math.max(0, ...widths) + GAP) / slot));
  const labels: Label[] = [];
  let end = -Infinity;
  for (const [index, width] of widths.entries()) {
    if (index % stride !== 0) continue;
    const middle = left + (index + 0.5) * slot;
    const x = Math.max(width / 2, Math.min(middle, right - width / 2));
    if (x - width / 2 < end + GAP) continue;
    labels.push({ index, x });
    end = x + width / 2;
  }
  return labels;
}
