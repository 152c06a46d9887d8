import { isSip } from '../../../platform/sip';
import { SOFTSWITCH } from '../../../platform/carriers/carrier';
import { readCountry } from '../../../data/phone/area-codes';
import { substitute, type TokenSource } from '../../../platform/tokens/substitute';
import { cutText } from '../../../platform/storable-text';
import type { Candidate } from './candidate';
import type { Member } from './order';
import type { DialBuyer } from './progress';
import type { Fault } from './reasons';

// Lines of a softswitch to the telephone network: which of them a buyer is dialed through.

/** A trunk that calls may use now (prisma/sql/switches/reserve_trunks.sql). */
export interface Trunk {
  id: number;
  name: string;
  /** Null: any switch has it. */
  switch_id: number | null;
  host: string;
  prefixes: readonly string[];
  countries: readonly string[];
  dial_prefix: string;
  caller_id_rule: 'pass' | 'fixed' | 'withheld';
  caller_id: string | null;
  headers: SipHeaders | null;
  /** How many calls more it may take now; null for any number. */
  room: number | null;
}

export type SipHeaders = Record<string, string>;

/** The trunks of a call, in the order in which they are tried. */
export interface Lines {
  trunks: readonly Trunk[];
  /** Trunks that have failed for the call. */
  failed: ReadonlySet<number>;
}

/** A trunk of a leg, with what is dialed through it. */
export interface Route {
  trunk_id: number;
  trunk: { name: string; host: string; number: string };
  caller_id: string | null;
  headers: SipHeaders;
}

interface CallOfSwitch {
  carrier: string;
  /** Absent for a call that may come from any switch; null for one whose switch is not known. */
  switch_id?: string | number | null | undefined;
}

/**
 * The trunks of the switch that has a call. Undefined where it has none, and so chooses its line
 * itself, and for calls of a carrier.
 */
export function findLines(
  trunks: readonly Trunk[],
  { carrier, switch_id: switchId }: CallOfSwitch,
  failed: ReadonlySet<number> = new Set(),
): Lines | undefined {
  if (carrier !== SOFTSWITCH) return undefined;
  const own = trunks.filter(
    ({ switch_id }) =>
      switch_id === null || switchId === undefined || String(switch_id) === String(switchId),
  );
  return own.length > 0 ? { trunks: own, failed } : undefined;
}

/** Why a buyer with a telephone number cannot be dialed; undefined when it can. */
export function trunkFault({ number }: Candidate, lines: Lines): Fault | undefined {
  if (!number || isSip(number)) return undefined;
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

function listTrunksTo(number: string, { trunks, failed }: Lines): Trunk[] {
  const digits = number.replace(/\D/g, '');
  const country = readCountry(Number(digits));
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
  members: readonly Member[],
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

/** Lines after a reservation has shown that some trunks have no room. */
export const applyFullTrunks = (lines: Lines, fullIds: readonly number[]): Lines => ({
  ...lines,
  trunks: lines.trunks.map((trunk) => (fullIds.includes(trunk.id) ? { ...trunk, room: 0 } : trunk)),
});

type Leg = Pick<DialBuyer, 'number' | 'caller_id' | 'headers'>;

/** Builds what is dialed through a trunk for a leg. Headers of the buyer take the place of its own. */
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
