import { createHash } from 'node:crypto';

/**
 * Returns the rank of an entry in a weighted draw: the lowest is first. A higher weight makes a low
 * rank likelier. Keys are unique among the entries; equal seeds give equal ranks.
 */
export type Draw = (key: number, weight: number) => number;

/**
 * A weighted random order: each entry waits for an exponential time of rate `weight`, so that it
 * comes first with probability weight / total weight, and likewise among the rest. The draw of an
 * entry does not depend on the other entries: leaving one out keeps the order of the rest. An entry
 * without weight never comes before an entry with weight.
 */
export function drawBy(seed: string): Draw {
  const digest = createHash('sha256').update(seed).digest();
  const [a, b] = [digest.readUInt32LE(0), digest.readUInt32LE(4)];
  return (key, weight) => {
    const high = mixBits(a ^ mixBits(key | 0)) >>> 0;
    const low = mixBits(b ^ mixBits((key + high) | 0)) >>> 0;
    // 53 random bits, in (0, 1].
    const uniform = ((high >>> 5) * 2 ** 26 + (low >>> 6) + 1) / 2 ** 53;
    return weight > 0 ? -Math.log(uniform) / weight : Infinity;
  };
}

/** Decides the position of an entry: the lower tier goes first, then the lower draw. */
export interface Drawn {
  tier: number;
  draw: number;
  /** Unique. */
  key: number;
}

/** Entries without weight draw infinity, whose difference would be NaN. */
export const compareDrawn = (a: Drawn, b: Drawn): number =>
  a.tier - b.tier || (a.draw === b.draw ? a.key - b.key : a.draw - b.draw);

/** The key of a choice: even for buyers, odd for groups, whose ids overlap. */
export const toDrawKey = (buyer: { id: number }, group: { id: number } | null): number =>
  group ? group.id * 2 + 1 : buyer.id * 2;

/** Spreads every bit over all 32 (the finalizer of MurmurHash3). */
function mixBits(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
