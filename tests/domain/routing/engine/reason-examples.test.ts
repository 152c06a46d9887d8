import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  declinedFault,
  failedFault,
  suspendedFault,
} from '../../../../src/domain/routing/engine/bids';
import { evaluateEligibility, type Facts } from '../../../../src/domain/routing/engine/eligibility';
import { REASONS, type Fault, type Reason } from '../../../../src/domain/routing/engine/reasons';
import { sourceCapFault, sourceFault } from '../../../../src/domain/routing/engine/source';
import type { Trunk } from '../../../../src/domain/routing/engine/line';
import { findRefusal } from '../../../../src/domain/routing/route-facts';
import { openMinutes } from '../../../../src/platform/time/opening-hours';
import { buyer, cap, group, MONDAY, NEW_YORK, route, tokens } from '../../../support/candidates';

// docs/routing.md has an example of each reason: what the engine says in such a case.

const now = new Date(MONDAY);
const findFault = (changes: Parameters<typeof buyer>[0], facts: Partial<Facts> = {}): Fault =>
  evaluateEligibility(buyer(changes), { now, tokens, ...facts }) as Fault;

const CALLER = {
  blacklisted: false,
  blocked_for_offer: false,
  suppressed_by: [],
  offer: { paused: false },
};
const DAILY = cap('attempt_daily', 50, 50, '2026-06-02T04:00:00Z');
const SLOTS = cap('concurrency', 3, 3);
const later = new Date('2026-06-01T12:31:00Z');
const bidder = { buyer_type: 'rtb' as const };
const findBidFault = (fault: Fault) =>
  findFault(bidder, { bids: { faults: new Map([[7, fault]]), decidedBids: [] } });

function buildLegLimitFault(): Fault {
  const ring = group({ name: 'Day shift', dial_buyers_type: 'simultaneously' });
  const all = [1, 2, 3].map((id) => buyer({ id, direct: false, groups: [ring] }));
  const { considered } = route(all, { now, tokens, seed: 'docs', max_legs: 2 });
  return considered.find(({ reason }) => reason === 'not_rung') as unknown as Fault;
}

const TRUNK: Trunk = {
  ...{ id: 5, name: 'carrier-a', switch_id: null, host: 'sip.carrier.example', room: null },
  ...{ prefixes: [], countries: [], dial_prefix: '+', caller_id_rule: 'pass', caller_id: null },
  headers: null,
};
const NONE = {
  ...{ failed: new Set<number>(), without: new Set<number>() },
  findCountry: () => 'US',
};

const EXAMPLES: Record<Reason, () => Fault | undefined> = {
  blacklisted: () => findRefusal({ ...CALLER, blacklisted: true }, undefined),
  offer_paused: () => findRefusal({ ...CALLER, offer: { paused: true } }, undefined),
  offer_suppressed: () =>
    findRefusal({ ...CALLER, suppressed_by: [{ id: 4, name: 'Do not call' }] }, undefined),
  traffic_source_paused: () => sourceFault({ paused: true, limits: null }, 0, now),
  traffic_source_cap_reached: () => sourceCapFault({ ...DAILY, zone: NEW_YORK }),
  traffic_source_concurrency_full: () => sourceCapFault({ ...SLOTS, zone: NEW_YORK }),
  already_tried: () => findFault({}, { tried: new Set([7]) }),
  not_previous_buyer: () => findFault({}, { only_buyer_id: 12 }),
  blocked_for_traffic_source: () =>
    findFault({}, { source_buyers: { blocked: new Set([7]), allowed: undefined } }),
  not_allowed_for_traffic_source: () =>
    findFault({}, { source_buyers: { blocked: new Set(), allowed: new Set([8]) } }),
  paused: () => findFault({ paused: true }),
  group_paused: () => findFault({ direct: false, groups: [group({ paused: true })] }),
  closed: () => findFault({ business_hours: [openMinutes([{ day: 1, times: ['09:00..16:59'] }])] }),
  suppressed: () => findFault({ suppressed_by: [{ id: 4, name: 'Own customers' }] }),
  filter_unmet: () => findFault({ record_token_filter_list: ['state:in CA,NV'] }),
  cap_reached: () => findFault(DAILY),
  concurrency_full: () => findFault({ direct: false, groups: [group(SLOTS)] }),
  out_of_balance: () => findFault(cap('balance', 25, 30)),
  duplicate_caller: () => findFault({}, { pays_again_at: new Map([[7, later]]) }),
  spacing: () => findFault({}, { spacing_seconds: 60, last_calls: new Map([[7, now]]) }),
  key_press_unavailable: () => findFault({ press_one_to_accept: true }, { can_whisper: false }),
  tones_unavailable: () => findFault({ dtmf_tones: '1' }, { can_play_tones: false }),
  bidder_suspended: () => findBidFault(suspendedFault(buyer(bidder), later)),
  bid_failed: () => findBidFault(failedFault({ fault: 'timeout', code: null }, 501)),
  bid_declined: () => findBidFault(declinedFault(12)),
  bid_not_asked: () => findFault(bidder),
  no_number: () => findFault({ number: null }),
  no_trunk: () => findFault({}, { lines: { trunks: [{ ...TRUNK, countries: ['MX'] }], ...NONE } }),
  trunk_full: () => findFault({}, { lines: { trunks: [{ ...TRUNK, room: 0 }], ...NONE } }),
  vetoed: () =>
    findFault(
      {},
      { vetoed: new Map([[7, { outgoing_webhook_id: 3, reason: 'credit line used' }]]) },
    ),
  not_rung: buildLegLimitFault,
};

const [, document] = readFileSync(join(__dirname, '../../../../docs/routing.md'), 'utf8').split(
  '\n| reason, for example ',
);
const shown = Object.fromEntries(
  [...document!.split('\n\n')[0]!.matchAll(/^\| `(\w+)` +\| ([^|`]+?) +\|$/gm)].map(
    ([, name, text]) => [name!, text],
  ),
);

test.each(REASONS)('%s', (reason) => {
  const fault = EXAMPLES[reason]();
  expect(fault?.reason).toBe(reason);
  expect({ [reason]: shown[reason] }).toEqual({ [reason]: fault!.message });
});
