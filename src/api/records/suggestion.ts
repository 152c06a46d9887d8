/** "; did you mean per_page?" for a name that is close to one of those allowed, otherwise "". */
export function suggestionFor(name: string, allowed: readonly string[]): string {
  const suggestion = findClosest(name, allowed);
  return suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
}

/** Names longer than this are not compared: a request may have any number of them. */
const MAX_LENGTH = 60;

/** The allowed name that a typing error, or another way to separate words, turns into `name`. */
function findClosest(name: string, allowed: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const nameLetters = letters(name);
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of allowed) {
    const target = letters(candidate);
    const limit = Math.floor(Math.max(nameLetters.length, target.length) / 4);
    if (Math.abs(nameLetters.length - target.length) > limit) continue;
    const distance = editDistance(nameLetters, target);
    if (distance <= limit && distance < (best?.distance ?? Infinity))
      best = { candidate, distance };
  }
  return best?.candidate;
}

/** perPage, per-page and per_page[] are the same letters. */
const letters = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/**
 * How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one
 * text into the other (optimal string alignment).
 */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const edits = [last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + Number(!isSame)];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && isSwap) edits.push(before[column - 2]! + 1);
      next.push(Math.min(...edits));
    }
    [before, last] = [last, next];
  }
  return last[to.length]!;
}
