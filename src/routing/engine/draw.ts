import { createHash } from 'node:crypto';

/** What is drawn from: the higher its weight, the likelier it comes first. */
export interface Lot {
  /** Its own among all lots: the same lot draws the same with the same seed, whoever else is there. */
  key: number;
  weight: number;
}

/** Draws that one seed makes: when each lot comes up, the lowest first. */
export type Draw = (lot: Lot) => number;

/**
 * A weighted draw of an order: a lot waits an exponential time of rate `weight`, so that the first to come up is each with the probability of its
 * part of all weight, and so it goes on among the rest. Nobody else's presence changes what a lot draws: who is taken out leaves the others' order
 * as it was. A lot without weight never comes up before one that has some.
 */
export function drawBy(seed: string): Draw {
  const digest = createHash('sha256').update(seed).digest();
  const [a, b] = [digest.readUInt32LE(0), digest.readUInt32LE(4)];
  return ({ key, weight }) => {
    const high = mixed(a ^ mixed(key | 0)) >>> 0;
    const low = mixed(b ^ mixed((key + high) | 0)) >>> 0;
    // 53 bits above 0, at most 1.
    const uniform = ((high >>> 5) * 2 ** 26 + (low >>> 6) + 1) / 2 ** 53;
    return weight > 0 ? -Math.log(uniform) / weight : Infinity;
  };
}

/** Spreads every bit over all 32 (the finish of MurmurHash3). */
function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
