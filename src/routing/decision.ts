import type { Reason } from './eligibility';
import type { Considered } from './route';

export type Action = 'dial' | 'fallback' | 'hang_up';

/** A cap as it stood before a call, of a buyer or of a group. */
export interface DecidedCap {
  buyer_id: number | null;
  buyer_group_id: number | null;
  cap: string;
  used: number;
  limit: number;
  resets_at: string | null;
}

export type DecidedBuyer = Omit<Considered, 'available'> & { chosen: boolean };

/** The answer to why a call went where it went. */
export interface Decision {
  round: number;
  at: string;
  seed: string;
  offer_id: number | null;
  action: Action;
  reason: string | null;
  message: string | null;
  buyer_ids: number[];
  candidates: DecidedBuyer[];
  caps: DecidedCap[];
}

interface Fault {
  reason: Reason;
  message: string | null;
  details: Record<string, unknown> | null;
}

/**
 * A decision as it is stored, one for every call: what many buyers have in common stands once, and what can be told from the rest not at all. A
 * candidate is [buyer_id, rank, place of its fault, tier, weight, draw, buyer_group_id, route_by_type unless it is tier].
 */
export type StoredDecision = Omit<Decision, 'candidates'> & { faults: Fault[]; candidates: (number | string | null)[][] };

/** Digits of a draw that are told. */
const DIGITS = 6;

/** Pure; `unpacked` is its inverse but for the names of buyers. */
export function packed({ candidates, ...decision }: Decision): StoredDecision {
  const faults = new Map<string, number>();
  const kept: Fault[] = [];
  const placeOf = ({ reason, message, details }: DecidedBuyer): number | null => {
    if (reason === null) return null;
    const key = `${reason}\n${message}`;
    const known = faults.get(key) ?? kept.push({ reason, message, details }) - 1;
    faults.set(key, known);
    return known;
  };
  const rows = candidates.map((one) => {
    const draw = one.draw === null || one.draw === Infinity ? null : Number(one.draw.toPrecision(DIGITS));
    const row = [one.buyer_id, one.rank, placeOf(one), one.tier, one.weight, draw, one.buyer_group_id];
    return one.route_by_type === 'tier' ? row : [...row, one.route_by_type];
  });
  return { ...decision, faults: kept, candidates: rows };
}

/** A stored decision as it is told; `names` are those of buyers. */
export function unpacked({ candidates, faults, ...decision }: StoredDecision, names: ReadonlyMap<number, string | null>): Decision {
  const dialed = new Set(decision.buyer_ids);
  const rows = candidates.map((row) => {
    const [buyer_id, rank, fault, tier, weight, draw, buyer_group_id, route_by_type = 'tier'] = row as [
      number,
      number | null,
      number | null,
      number,
      number,
      number | null,
      number | null,
      Considered['route_by_type']?,
    ];
    const told = fault === null ? { reason: null, message: null, details: null } : faults[fault]!;
    return {
      buyer_id,
      name: names.get(buyer_id) ?? null,
      ...told,
      rank,
      tier,
      weight,
      share: null as number | null,
      draw,
      route_by_type,
      buyer_group_id,
      chosen: dialed.has(buyer_id),
    };
  });
  // Members of a group that rings all at once share one place, and count once.
  const places = new Map(rows.flatMap(({ rank, tier, weight }) => (rank === null ? [] : [[rank, { tier, weight }] as const])));
  const sums = new Map<number, number>();
  for (const { tier, weight } of places.values()) sums.set(tier, (sums.get(tier) ?? 0) + weight);
  for (const row of rows) if (row.rank !== null) row.share = row.weight / (sums.get(row.tier) || 1);
  return { ...decision, candidates: rows };
}
