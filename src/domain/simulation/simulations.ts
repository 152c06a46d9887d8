import type { Schemas } from '../../platform/contract/contract';
import { findNamed } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { HttpProblem, rejectInvalidData } from '../../platform/errors';
import { pickLimits } from '../caps/cap-limits';
import { METRICS } from '../caps/caps';
import { openMinutes } from '../../platform/time/opening-hours';
import { buildTokens } from '../../platform/tokens/lead-data';
import type { HoursEntry, Limits } from './caps';
import type { BuyerChange, GroupChange } from './change';
import { simulate, type SimulationOrder } from './simulate';

// Replays the calls of a period, or calls that are made up, through the engine of domain/routing/
// with another configuration. It reads the database and writes nothing.

type Body = Schemas['RoutingSimulationCreate'];
type Change = Schemas['SimulatedChange'];

export const simulations = ({ clock, carrier }: Deps) =>
  ({
    simulateRouting: async ({ body, db }) => {
      const now = clock();
      const offerId = await findNamed(db, 'offers', {
        reference: body.offer_id,
        field: 'offer_id',
      });
      const { synthetic, ...period } = parsePeriod(body, now);
      const changes = await resolveChanges(db, body.changes);
      const simulation = await simulate(db, {
        period: { offer_id: offerId, ...period },
        synthetic,
        changes,
        seed: body.seed || undefined,
        carrier,
        now,
      });
      return {
        status: 200,
        success: true,
        errors: {},
        simulation,
        metadata: { root: 'simulation' },
      };
    },
  }) satisfies Partial<Handlers>;

/** Milliseconds: 31 days, and the hour that a change of the clocks may add. */
const MAX_PERIOD_MS = (31 * 24 + 1) * 3_600_000;

function parsePeriod(
  { from, to, synthetic }: Body,
  now: Date,
): { from: Date; to: Date; synthetic: SimulationOrder['synthetic'] } {
  if (synthetic && (from || to))
    throw HttpProblem.field(
      'synthetic',
      'conflicting_fields',
      'must not be given together with from or to',
    );
  if (!synthetic && !from)
    throw HttpProblem.field('from', 'missing_field', 'must be given, or synthetic');
  const field = synthetic ? 'synthetic.to' : 'to';
  const [begins, ends] = [
    new Date((synthetic?.from ?? from)!),
    new Date(synthetic?.to ?? to ?? now),
  ];
  if (begins >= ends) throw HttpProblem.field(field, 'invalid_value', 'must be later than from');
  if (ends.getTime() - begins.getTime() > MAX_PERIOD_MS)
    throw HttpProblem.field(field, 'invalid_value', 'must be at most 31 days after from');
  return {
    from: begins,
    to: ends,
    synthetic: synthetic ? { ...synthetic, tokens: parseTokens(synthetic.tokens) } : undefined,
  };
}

function parseTokens(input: Record<string, unknown> | undefined): Record<string, unknown> {
  const { tokens, faults } = buildTokens({}, input ?? {});
  rejectInvalidData(
    faults.map(({ field, message }) => ({
      field: field === 'data' ? 'synthetic.tokens' : `synthetic.tokens.${field}`,
      message,
    })),
  );
  return tokens;
}

const HOURLY = METRICS.map((metric) => `${metric}_hourly_limit` as const);
/** Fields of a change that only buyers have, or only groups. */
const BUYER_FIELDS = [
  'timeout_seconds',
  'business_hours_schedule',
  'concurrency_cap_limit',
] as const;
const GROUP_FIELDS = ['dial_buyers_type', 'concurrency_cap', ...HOURLY] as const;

async function resolveChanges(
  db: Db,
  requestedChanges: readonly Change[],
): Promise<SimulationOrder['changes']> {
  const changes: SimulationOrder['changes'] = { buyers: [], groups: [] };
  const seenKeys = new Set<string>();
  for (const [n, change] of requestedChanges.entries()) {
    const owner = requireOwner(change, `changes.${n}`);
    const field = `changes.${n}.${owner}`;
    const table = owner === 'buyer_id' ? 'buyers' : 'buyer_groups';
    const id = Number(await findNamed(db, table, { reference: change[owner]!, field }));
    if (seenKeys.has(`${owner}/${id}`))
      throw HttpProblem.field(field, 'conflicting_fields', `is changed twice: ${id}`);
    seenKeys.add(`${owner}/${id}`);
    if (owner === 'buyer_id') changes.buyers.push({ ...toBuyerChange(change, id), field });
    else changes.groups.push({ ...toGroupChange(change, id), field });
  }
  return changes;
}

/** A change names a buyer or a group, and must not have fields of the other kind. Throws 422. */
function requireOwner(change: Change, field: string): 'buyer_id' | 'buyer_group_id' {
  if ((change.buyer_id === undefined) === (change.buyer_group_id === undefined))
    throw HttpProblem.field(field, 'missing_field', 'must have either buyer_id or buyer_group_id');
  const [owner, kind, foreignFields] =
    change.buyer_id === undefined
      ? (['buyer_group_id', 'group', BUYER_FIELDS] as const)
      : (['buyer_id', 'buyer', GROUP_FIELDS] as const);
  const foreign = foreignFields.find((name) => change[name] !== undefined);
  if (foreign)
    throw HttpProblem.field(
      `${field}.${foreign}`,
      'not_applicable',
      `is not a field of a ${kind} here`,
    );
  return owner;
}

function toBuyerChange(
  { paused, tier, weight, timeout_seconds, business_hours_schedule: hours, ...change }: Change,
  id: number,
): BuyerChange {
  return {
    id,
    paused,
    tier,
    weight,
    timeout_seconds,
    limits: pickLimits(change),
    hours: hours === undefined ? undefined : (hours ?? []).map(toHoursEntry),
  };
}

const toHoursEntry = ({ schedule, ...limits }: Schemas['BusinessHours']): HoursEntry => ({
  open: openMinutes(schedule),
  limits: limits as Limits,
});

function toGroupChange(
  { paused, tier, weight, dial_buyers_type, concurrency_cap, ...change }: Change,
  id: number,
): GroupChange {
  const limits = pickLimits({ ...change, concurrency_cap_limit: concurrency_cap });
  return { id, paused, tier, weight, dial_buyers_type, limits };
}
