import { uuidv7 } from '../../data/uuid';
import { buildBasis, packDecision } from '../routing/engine/explain';
import type { DialBuyer } from '../routing/engine/progress';
import type { NewCall, Round } from './record-call';

/** A buyer to whom a switch has sent a call itself. */
export type ImportedBuyer = Pick<
  DialBuyer,
  'buyer_id' | 'buyer_group_id' | 'name' | 'number' | 'timeout_seconds' | 'user_buyer_id'
>;

const MESSAGE = 'the switch has decided this itself, while the service was away, and reported it';

/** The round of a call for which the service chose no buyer: it considered none. Pure. */
export function buildImportedRound(
  { uuid, offer_id, lead_id, caller_number }: NewCall,
  buyer: ImportedBuyer | undefined,
  startedAt: Date,
): Round {
  const dial = buyer
    ? [
        {
          ...buyer,
          attempt: uuidv7(startedAt.getTime()),
          caller_id: caller_number === null ? null : `+${caller_number}`,
          ...{ dtmf_tones: null, press_one_to_accept: false, record_calls: false },
          ...{ trunk: null, headers: {} },
        },
      ]
    : [];
  const basis = buildBasis([]);
  const verdict = {
    ...{ round: 1, at: startedAt.toISOString(), seed: uuid, offer_id },
    action: buyer ? ('dial' as const) : ('hang_up' as const),
    ...{ reason: 'imported', message: MESSAGE },
    ...{ buyer_ids: dial.map(({ buyer_id }) => buyer_id), bids: [], caps: [] },
  };
  return {
    round: 1,
    now: startedAt,
    decision: packDecision(verdict, { candidates: [], faults: [], ringing: [] }, basis),
    basis,
    dial,
    routes: new Map(),
    ...{ bids: [], dials_as_one: false, longest: 0, slots: [], lease_until: startedAt },
    events: [
      { event: 'started', details: { lead_id } },
      { event: 'imported', message: MESSAGE },
      ...dial.map(({ buyer_id, number }) => ({ event: 'dialed', message: number, buyer_id })),
    ],
    set: {
      ...{ status: 'ringing', fallback: buyer ? null : 'hang_up' },
      ...{ hangup_cause: null, ended_at: null },
      buyer_id: buyer?.buyer_id ?? null,
      buyer_group_id: buyer?.buyer_group_id ?? null,
      connect_to: buyer?.number ?? null,
    },
  };
}
