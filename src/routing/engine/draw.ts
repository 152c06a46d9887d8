import { createHash } from 'node:crypto';

/**
 * Returns when an entry of a weighted draw comes up: the lowest is first. The higher its weight,
 * the likelier. A key is unique among all entries; with the same seed it always draws the same.
 */
export type Draw = (key: number, weight: number) => number;

/**
 * A weighted random order: each entry waits for an exponential time of rate `weight`, so that it
 * comes first with a probability of its part of the total weight, and likewise among the rest. What
 * an entry draws does not depend on the other entries, so that leaving one out keeps the order of
 * the others. An entry without weight never comes before one that has some.
 */
export function drawBy(seed: string): Draw {
  const digest = createHash('sha256').update(seed).digest();
  const [a, b] = [digest.readUInt32LE(0), digest.readUInt32LE(4)];
  return (key, weight) => {
    const high = mixed(a ^ mixed(key | 0)) >>> 0;
    const low = mixed(b ^ mixed((key + high) | 0)) >>> 0;
    // 53 random bits, in (0, 1].
    const uniform = ((high >>> 5) * 2 ** 26 + (low >>> 6) + 1) / 2 ** 53;
    return weight > 0 ? -Math.log(uniform) / weight : Infinity;
  };
}

/** Spreads every bit over all 32 (the finalizer of MurmurHash3). */
function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
