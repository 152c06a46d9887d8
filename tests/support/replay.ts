import { applyChanges, type BuyerChange } from '../../src/domain/simulation/change';
import type { CapsOwner } from '../../src/domain/simulation/caps';
import type {
  Configuration,
  Figures,
  ReplayedCall,
  SimulatedBuyer,
} from '../../src/domain/simulation/model';
import { buildExpectations, type Assumptions } from '../../src/domain/simulation/outcome';
import { replay } from '../../src/domain/simulation/replay';
import { ownTokens } from '../../src/platform/tokens/substitute';
import { buyer, NEW_YORK } from './candidates';

/** Monday 08:00 in New York. */
export const START = new Date('2026-06-01T12:00:00Z');

/** Caps without limits. */
export const caps = (changes: Partial<CapsOwner> = {}): CapsOwner => ({
  zone: NEW_YORK,
  limits: {},
  hours: [],
  ...changes,
});
/** A conversion that pays for a call of a minute. */
export const buildConversions = (revenue: number) => [
  {
    time_frame: 0,
    open: [],
    conversion_type: 'duration' as const,
    duration: 60,
    revenue,
    duplicate_timeframe: 0,
    token_values: [],
  },
];
/** A buyer that pays 10 dollars for a call of a minute. */
export const buildBuyer = (
  id: number,
  changes: Partial<SimulatedBuyer['candidate']> = {},
  more: Partial<SimulatedBuyer> = {},
): SimulatedBuyer => ({
  candidate: buyer({ id, timeout_seconds: 30, ...changes }),
  caps: caps(),
  conversions: buildConversions(10),
  ...more,
});
/** A call of 90 seconds whose caller is withheld. */
export const call = (id: number, at: Date, changes: Partial<ReplayedCall> = {}): ReplayedCall => ({
  id,
  at,
  caller_number: null,
  traffic_source_id: null,
  source_payouts: [],
  facts: ({ now, seed, tried, pays_again_at, source_fault }) => ({
    refused: source_fault,
    now,
    seed,
    tried,
    pays_again_at,
    tokens: ownTokens({}),
  }),
  suppressed: new Map(),
  previous_buyer_id: null,
  paid_at: new Map(),
  seeds: [],
  attempts: [],
  talked: 90,
  gave_up_after: null,
  ...changes,
});
/** Calls that come in every so many seconds. */
export const repeatCalls = (seconds: number, count: number, start = START) =>
  Array.from({ length: count }, (_, n) =>
    call(n + 1, new Date(start.getTime() + n * seconds * 1000)),
  );

interface ReplayOrder {
  calls: ReplayedCall[];
  groups?: Configuration['groups'];
  sources?: Configuration['sources'];
  payouts?: Configuration['payouts'];
  seed?: string;
  assumptions?: Assumptions;
  changes?: BuyerChange[];
  start?: Date;
}

/** Replays calls to the end, and returns the figures of buyers. */
export function run(
  buyers: SimulatedBuyer[],
  {
    calls,
    groups = [],
    sources = new Map(),
    payouts = [],
    seed = 'seed',
    assumptions = { answer_rate: 1 },
    changes = [],
    start = START,
  }: ReplayOrder,
) {
  const expected = buildExpectations([], {
    buyer_ids: buyers.map(({ candidate }) => candidate.id),
    talked: [],
    assumptions,
  });
  const work = replay(
    applyChanges({ buyers, groups, sources, payouts }, { buyers: changes, groups: [] }),
    {
      calls,
      seed,
      start,
      expected,
    },
  );
  for (;;) {
    const { done, value } = work.next();
    if (done) return (id: number): Figures => value.get(id)!;
  }
}
