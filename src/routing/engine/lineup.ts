import { basisRowOf, isSameRow, type Basis } from './basis';
import { isBidder } from './bids';
import type { Candidate } from './candidate';
import { wayFault } from './caps';
import { hoursFault } from './hours';
import { pauseFault, type Fault } from './reasons';
import { keyOf, tierOf } from './route';

/**
 * The candidates of an offer as columns, in their order. A decision about ten thousand candidates
 * reads a megabyte less than from the objects, and skips checks with the same result for every call
 * of a minute. Columns are immutable.
 */
export interface Lineup {
  /** Keys in the draw. */
  keys: Float64Array;
  tiers: Float64Array;
  weights: Float64Array;
  /** Distinct lists of filters; `filters_of` has the index of each candidate's list. */
  filters: readonly (readonly string[])[];
  filters_of: Uint32Array;
  kinds: Uint8Array;
  /** The reasons of candidates of kind `lasting`, each once. */
  lasting: readonly LastingFault[];
  /** Indexes of candidates that differ from the basis. */
  differing: readonly number[];
}

interface LastingFault extends Fault {
  ids: number[];
}

export const KINDS = {
  /** Takes the call unless the caller, the filters or earlier calls exclude it. */
  open: 0,
  /** Takes no call in this minute: paused or closed. */
  lasting: 1,
  /** Must be evaluated for each call. */
  other: 2,
} as const;

/** Undefined when every candidate must be evaluated for each call. Pure. */
export function lineupOf(
  candidates: readonly Candidate[],
  basis: Basis,
  now: Date,
): Lineup | undefined {
  const at_once = candidates.some(({ groups }) =>
    groups.some(({ dial_buyers_type }) => dial_buyers_type === 'simultaneously'),
  );
  if (at_once || candidates.some(({ route_by_type }) => route_by_type === 'epc')) return undefined;
  const kinds = Uint8Array.from(candidates, (candidate) => kindOf(candidate, now));
  const lists = new Map<readonly string[], number>();
  const filters_of = Uint32Array.from(candidates, ({ record_token_filter_list: filters }) => {
    if (!lists.has(filters)) lists.set(filters, lists.size);
    return lists.get(filters)!;
  });
  return {
    keys: Float64Array.from(candidates, (candidate) => keyOf(candidate, null)),
    tiers: Float64Array.from(candidates, tierOf),
    weights: Float64Array.from(candidates, ({ weight }) => weight),
    filters: [...lists.keys()],
    filters_of,
    kinds,
    lasting: lastingOf(candidates, kinds, now),
    differing: [...candidates.keys()].filter((place) => differs(candidates[place]!, basis, place)),
  };
}

/** Replaces candidates whose caps were changed by calls. Pure. */
export function changedLineup(
  lineup: Lineup,
  candidates: readonly Candidate[],
  { places, basis, now }: { places: readonly number[]; basis: Basis; now: Date },
): Lineup {
  const changed = places
    .map((place) => ({ place, kind: kindOf(candidates[place]!, now) }))
    .filter(({ place, kind }) => kind !== lineup.kinds[place]);
  const differing = differingAfter(lineup, places, (place) =>
    differs(candidates[place]!, basis, place),
  );
  if (changed.length === 0)
    return differing === lineup.differing ? lineup : { ...lineup, differing };
  const kinds = lineup.kinds.slice();
  for (const { place, kind } of changed) kinds[place] = kind;
  const is_lasting_changed = changed.some(
    ({ place, kind }) => kind === KINDS.lasting || lineup.kinds[place] === KINDS.lasting,
  );
  const lasting = is_lasting_changed ? lastingOf(candidates, kinds, now) : lineup.lasting;
  return { ...lineup, kinds, lasting, differing };
}

function differingAfter(
  { differing }: Lineup,
  places: readonly number[],
  differsNow: (place: number) => boolean,
): readonly number[] {
  const after = new Set(differing);
  const changed = new Set(places.filter((place) => after.has(place) !== differsNow(place)));
  if (changed.size === 0) return differing;
  for (const place of changed) if (!after.delete(place)) after.add(place);
  return [...after].sort((a, b) => a - b);
}

function lastingOf(
  candidates: readonly Candidate[],
  kinds: Uint8Array,
  now: Date,
): readonly LastingFault[] {
  const lasting = new Map<string, LastingFault>();
  candidates.forEach((candidate, place) => {
    if (kinds[place] !== KINDS.lasting) return;
    const fault = lastingFault(candidate, now)!;
    const key = JSON.stringify(fault);
    const known = lasting.get(key);
    if (known) known.ids.push(candidate.id);
    else lasting.set(key, { ...fault, ids: [candidate.id] });
  });
  return [...lasting.values()];
}

const differs = (candidate: Candidate, { rows }: Basis, place: number): boolean =>
  !isSameRow(basisRowOf(candidate), rows[place]);

/** In the order of the reasons: a paused group comes before closed hours. */
function kindOf(candidate: Candidate, now: Date): number {
  if (candidate.paused) return KINDS.lasting;
  if (wayFault(candidate)) return KINDS.other;
  if (lastingFault(candidate, now)) return KINDS.lasting;
  const is_open = !candidate.used_up && candidate.number?.trim() && !isBidder(candidate);
  return is_open ? KINDS.open : KINDS.other;
}

const lastingFault = ({ paused, business_hours, zone }: Candidate, now: Date): Fault | undefined =>
  paused ? pauseFault('paused', 'the buyer') : hoursFault(business_hours, zone, now);
