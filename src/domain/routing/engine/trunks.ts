import { isSip } from '../../../platform/sip';
import { substitute, type TokenSource } from '../../../platform/tokens/substitute';
import { cutText } from '../../../platform/storable-text';
import type { Candidate } from './candidate';
import type { Lines, Route, SipHeaders, Trunk } from './line';
import type { DialBuyer } from './progress';
import type { Fault } from './reasons';

// Which of the lines of a softswitch a buyer is dialed through.

/** Why no trunk is left for a buyer; undefined where there is one, or none is needed. */
export function trunkFault({ id, number }: Candidate, lines: Lines | undefined): Fault | undefined {
  if (!lines || !number || isSip(number)) return undefined;
  if (lines.without.has(id))
    return {
      reason: 'trunk_full',
      message: 'the trunks that lead to the number of the buyer are full with those of its group',
    };
  const leading = listTrunksTo(number, lines);
  if (leading.length === 0)
    return {
      reason: 'no_trunk',
      message:
        lines.failed.size > 0
          ? 'the trunks that lead to the number of the buyer have failed for this call'
          : 'no trunk leads to the number of the buyer',
    };
  if (leading.some(hasRoom)) return undefined;
  return {
    reason: 'trunk_full',
    message: `the trunks that lead to the number of the buyer are full: ${leading
      .map(({ name }) => name)
      .join(', ')}`,
    details: { trunk_ids: leading.map(({ id }) => id) },
  };
}

const hasRoom = ({ room }: Trunk): boolean => room === null || room > 0;

function listTrunksTo(number: string, { trunks, failed, findCountry }: Lines): Trunk[] {
  const digits = number.replace(/\D/g, '');
  const country = findCountry(digits);
  return trunks.filter(
    ({ id, prefixes, countries }) =>
      !failed.has(id) &&
      (prefixes.length === 0 || prefixes.some((prefix) => digits.startsWith(prefix))) &&
      (countries.length === 0 || (country !== null && countries.includes(country))),
  );
}

/** The trunks of each buyer by id, the one that it is dialed through first; absent for none. */
export type TrunksByBuyer = ReadonlyMap<number, readonly Trunk[]>;

/**
 * Chooses a trunk for each buyer that is dialed at once: the first that leads to its number and has
 * room for one call more. `without`: buyers for which none has.
 */
export function assignTrunks(
  members: readonly { buyer: Pick<Candidate, 'id' | 'number'> }[],
  lines: Lines | undefined,
): { trunks: TrunksByBuyer; without: ReadonlySet<number> } {
  const trunks = new Map<number, readonly Trunk[]>();
  const without = new Set<number>();
  const taken = new Map<number, number>();
  for (const { buyer } of lines ? members : []) {
    if (isSip(buyer.number!)) continue;
    const leading = listTrunksTo(buyer.number!, lines!);
    const first = leading.find(({ id, room }) => room === null || room > (taken.get(id) ?? 0));
    if (first) {
      taken.set(first.id, (taken.get(first.id) ?? 0) + 1);
      trunks.set(buyer.id, [first, ...leading.filter((trunk) => trunk !== first)]);
    } else without.add(buyer.id);
  }
  return { trunks, without };
}

/** Lines after a choice has shown that buyers would get no trunk. */
export const excludeBuyers = (lines: Lines, without: ReadonlySet<number>): Lines => ({
  ...lines,
  without: new Set([...lines.without, ...without]),
});

/** Lines after a reservation has shown that some trunks have no room. */
export const applyFullTrunks = (lines: Lines, fullIds: readonly number[]): Lines => ({
  ...lines,
  trunks: lines.trunks.map((trunk) => (fullIds.includes(trunk.id) ? { ...trunk, room: 0 } : trunk)),
});

type Leg = Pick<DialBuyer, 'number' | 'caller_id' | 'headers'>;

/** Builds what is dialed through a trunk. Headers of the buyer take the place of its own. */
export const buildRoute = (
  { id, name, host, dial_prefix, caller_id_rule, caller_id, headers }: Trunk,
  leg: Leg,
  tokens: TokenSource,
): Route => ({
  trunk_id: id,
  trunk: { name, host, number: dial_prefix + leg.number.replace(/\D/g, '') },
  caller_id: { pass: leg.caller_id, fixed: caller_id, withheld: null }[caller_id_rule],
  headers: { ...renderHeaders(headers ?? {}, tokens), ...leg.headers },
});

/** The leg as it is dialed by a route. */
export const applyRoute = (dial: DialBuyer, { trunk, caller_id, headers }: Route): DialBuyer => ({
  ...dial,
  trunk,
  caller_id,
  headers,
});

/** RFC 3261 does not allow these within a header: a value must not begin another one. */
const CONTROL = /[\0-\x1f\x7f]+/g;
const MAX_LENGTH = 500;

/** Values are text of callers and leads. */
export const renderHeaders = (headers: SipHeaders, tokens: TokenSource): SipHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      cutText(substitute(value, tokens).replace(CONTROL, ' ').trim(), MAX_LENGTH),
    ]),
  );
