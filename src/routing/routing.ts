import type { Schemas } from '../contract';
import { findNamed } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { HttpProblem, rejectInvalidData } from '../errors';
import { METRICS } from '../buyers/caps';
import type { BuyerChange, GroupChange } from './simulation/change';
import type { HoursEntry, Limits } from './simulation/caps';
import { openMinutes } from '../time/opening-hours';
import { tokensOf } from '../tokens/lead-data';
import { limitsIn } from '../buyers/cap-limits';
import { simulate, type Simulating } from './simulation/simulate';
type Body = Schemas['RoutingSimulationCreate'];
type Change = Schemas['SimulatedChange'];

/** What would become of calls. */
export const routing = ({ clock }: Deps) =>
  ({
    simulateRouting: async ({ body, db }) => {
      const now = clock();
      const offer_id = await findNamed(db, 'offers', {
        reference: body.offer_id,
        field: 'offer_id',
      });
      const { synthetic, ...period } = periodOf(body, now);
      const changes = await changesOf(db, body.changes);
      const simulation = await simulate(db, {
        period: { offer_id, ...period },
        synthetic,
        changes,
        seed: body.seed || undefined,
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

/** 31 days, one of which may have an hour more. */
const LONGEST = (31 * 24 + 1) * 3_600_000;

function periodOf(
  { from, to, synthetic }: Body,
  now: Date,
): { from: Date; to: Date; synthetic: Simulating['synthetic'] } {
  if (synthetic && (from || to))
    throw HttpProblem.field('synthetic', 'must not be given together with from or to');
  if (!synthetic && !from) throw HttpProblem.field('from', 'must be given, or synthetic');
  const field = synthetic ? 'synthetic.to' : 'to';
  const [begins, ends] = [
    new Date((synthetic?.from ?? from)!),
    new Date(synthetic?.to ?? to ?? now),
  ];
  if (begins >= ends) throw HttpProblem.field(field, 'must be later than from');
  if (ends.getTime() - begins.getTime() > LONGEST)
    throw HttpProblem.field(field, 'must be at most 31 days after from');
  return {
    from: begins,
    to: ends,
    synthetic: synthetic ? { ...synthetic, tokens: tokensIn(synthetic.tokens) } : undefined,
  };
}

function tokensIn(sent: Record<string, unknown> | undefined): Record<string, unknown> {
  const { tokens, faults } = tokensOf({}, sent ?? {});
  rejectInvalidData(
    faults.map(({ field, message }) => ({
      field: field === 'data' ? 'synthetic.tokens' : `synthetic.tokens.${field}`,
      message,
    })),
  );
  return tokens;
}

const HOURLY = METRICS.map((metric) => `${metric}_hourly_limit` as const);
/** What only a buyer has, and only a group. */
const OF_BUYERS = ['timeout_seconds', 'business_hours_schedule', 'concurrency_cap_limit'] as const;
const OF_GROUPS = ['dial_buyers_type', 'concurrency_cap', ...HOURLY] as const;

async function changesOf(db: Db, sent: readonly Change[]): Promise<Simulating['changes']> {
  const changes: Simulating['changes'] = { buyers: [], groups: [] };
  const seen = new Set<string>();
  for (const [n, change] of sent.entries()) {
    const { buyer_id, buyer_group_id } = change;
    if ((buyer_id === undefined) === (buyer_group_id === undefined))
      throw HttpProblem.field(`changes.${n}`, 'must have either buyer_id or buyer_group_id');
    const [own, others] =
      buyer_id === undefined
        ? (['buyer_group_id', OF_BUYERS] as const)
        : (['buyer_id', OF_GROUPS] as const);
    const foreign = others.find((name) => change[name] !== undefined);
    if (foreign)
      throw HttpProblem.field(
        `changes.${n}.${foreign}`,
        `is nothing that a ${own === 'buyer_id' ? 'buyer' : 'group'} has here`,
      );
    const field = `changes.${n}.${own}`;
    const id = Number(
      await findNamed(db, own === 'buyer_id' ? 'buyers' : 'buyer_groups', {
        reference: change[own]!,
        field,
      }),
    );
    if (seen.has(`${own}/${id}`)) throw HttpProblem.field(field, `is changed twice: ${id}`);
    seen.add(`${own}/${id}`);
    if (own === 'buyer_id') changes.buyers.push({ ...buyerChange(change, id), field });
    else changes.groups.push({ ...groupChange(change, id), field });
  }
  return changes;
}

function buyerChange(
  { paused, tier, weight, timeout_seconds, business_hours_schedule: hours, ...change }: Change,
  id: number,
): BuyerChange {
  return {
    id,
    paused,
    tier,
    weight,
    timeout_seconds,
    limits: limitsIn(change),
    hours: hours === undefined ? undefined : (hours ?? []).map(entryOf),
  };
}

const entryOf = ({ schedule, ...limits }: Schemas['BusinessHours']): HoursEntry => ({
  open: openMinutes(schedule),
  limits: limits as Limits,
});

function groupChange(
  { paused, tier, weight, dial_buyers_type, concurrency_cap, ...change }: Change,
  id: number,
): GroupChange {
  const limits = limitsIn({ ...change, concurrency_cap_limit: concurrency_cap });
  return { id, paused, tier, weight, dial_buyers_type, limits };
}
