import {
  callAttemptProjection,
  callEventProjection,
  callProjection as projection,
} from './columns';
import { callerNumber } from '../phone/caller-number';
import { cachedCount, type SortKey } from '../db/projection';
import { byReference, findRecord, lockRecord, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { semaphore } from '../db/semaphore';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import type { Filters } from '../http/filters';
import { list, page } from '../http/list';
import { requireUnchanged, written } from '../http/record';
import { recordHandlers } from '../http/record-handlers';
import { HttpProblem } from '../errors';
import { withPreDialChecks } from '../routing/pre-dial-webhooks';
import { placeCall } from './place-call';
import { sendKeyPress } from './send-key-press';
import { updateCall, type CallFacts } from './update-call';

const orders: Record<string, SortKey> = {
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  ended_at: { sql: 't.ended_at', type: 'timestamptz', nullable: true },
  // As stored: what counts up to now would move under a cursor.
  total_duration: { sql: 't.total_duration', type: 'bigint', nullable: true },
  revenue: { sql: 't.revenue', type: 'numeric' },
  payout: { sql: 't.payout', type: 'numeric' },
  status: { sql: 't.status', type: 'text' },
};

/** A case that triggers keep a count of, and its contrary. */
const kept = (kind: string, holds: string, contrary: string) => {
  const n = cachedCount(`calls/${kind}`);
  return {
    cases: { true: holds, false: contrary },
    totals: { true: n, false: `${cachedCount('calls')} - ${n}` },
  };
};
const outbound = cachedCount('calls/outbound');
const in_progress = `(SELECT count(*) FROM calls t WHERE t.company_id = {company_id} AND t.deleted_at IS NULL AND t.ended_at IS NULL)`;

/** Conditions stand as the partial indexes of calls have them. */
export const callFilters = {
  ended_at_from: 't.ended_at >= {ended_at_from}::timestamptz',
  ended_at_to: 't.ended_at <= {ended_at_to}::timestamptz',
  caller_number: 't.caller_number = {caller_number}::bigint',
  status: 't.status = {status}',
  category: {
    cases: { outbound: `t.direction = 'outbound'`, inbound: `t.direction = 'inbound'` },
    totals: { outbound, inbound: `${cachedCount('calls')} - ${outbound}` },
  },
  buyer_converted: kept('buyer_converted', 't.buyer_converted', 'NOT t.buyer_converted'),
  offer_converted: kept(
    'offer_converted',
    't.traffic_source_converted',
    'NOT t.traffic_source_converted',
  ),
  either_converted: kept(
    'either_converted',
    '(t.buyer_converted OR t.traffic_source_converted)',
    'NOT t.buyer_converted AND NOT t.traffic_source_converted',
  ),
  in_progress: {
    cases: { true: 't.ended_at IS NULL', false: 't.ended_at IS NOT NULL' },
    totals: { true: in_progress, false: `${cachedCount('calls')} - ${in_progress}` },
  },
  has_recording: kept('has_recording', 't.recording_url IS NOT NULL', 't.recording_url IS NULL'),
  no_buyer: kept('no_buyer', 't.buyer_id IS NULL', 't.buyer_id IS NOT NULL'),
  token_named: 't.token_values ? {token_named}',
  token_like:
    '(t.token_values @> ({token_like}::jsonb->0) OR t.token_values @> ({token_like}::jsonb->1))',
} as const satisfies Filters;

/** What a token in a query can be in JSON besides a text. */
const PLAIN = /^(-?(0|[1-9]\d{0,14})(\.\d{1,10})?|true|false)$/;

/** The filter of a token: that it is there, or which value it has, be it written as a text or, as JSON may have it, as a number or a boolean. */
function tokenFilter({
  token_key: key,
  token_value: value,
}: {
  token_key?: string;
  token_value?: string;
}) {
  if (value === undefined) return key === undefined ? {} : { token_named: key };
  if (key === undefined)
    throw HttpProblem.field('token_key', 'must name the token whose value token_value is');
  const plain: unknown = PLAIN.test(value) ? JSON.parse(value) : value;
  return { token_like: JSON.stringify([{ [key]: value }, { [key]: plain }]) };
}

/** Each holds a connection to the database while the carrier is asked: others need some too. */
const PLACED_AT_ONCE = 4;

/** What came in and went out. */
export const calls = ({ clock, carrier, mailer, config, database, request, pepper }: Deps) => {
  const turn = semaphore(PLACED_AT_ONCE);
  const of = { call_id: 't.call_id = {call_id}::bigint' };
  const tell = async (db: Db, reference: Reference, told: CallFacts = {}) => {
    const now = clock();
    if (db.log)
      await requireUnchanged(
        { db, now, projection, if_match: undefined },
        (await lockRecord(db, 'calls', reference)).id.toString(),
      );
    const { id, warnings } = await updateCall(db, reference, told, { now, carrier });
    return written({ db, now, projection }, id, { extra: { warnings } });
  };
  return {
    listCalls: async ({ query, db }) => {
      const tokens = tokenFilter(query);
      const caller_number = await callerNumber(db, query.caller_number, 'caller_number');
      const named = byReference(query, {
        offer_id: 'offers',
        buyer_id: 'buyers',
        traffic_source_id: 'traffic_sources',
        schedule_id: 'schedules',
        number_id: 'numbers',
        lead_id: 'leads',
      });
      const narrowed = { ...query, caller_number, ...tokens };
      return list(narrowed, {
        db,
        now: clock(),
        projection,
        orders,
        filters: { ...callFilters, ...named },
      });
    },

    showCall: recordHandlers(projection, clock).show,

    createCall: async ({ body: order = {}, db }) => {
      const now = clock();
      const edges = { carrier, mailer, mail_from: config.mail_from };
      const uuid = await turn(() => placeCall(db, order, { edges, aside: database.joint, now }));
      return written({ db, now, projection }, await findRecord(db, 'calls', uuid), { status: 201 });
    },

    sendKeyPress: async ({ body: { id, digits, data }, db }) => {
      const now = clock();
      const pressed = await withPreDialChecks(db, { request, pepper, clock }, (vetoes) =>
        sendKeyPress(db, { id, digits, data, vetoes }, now),
      );
      return written({ db, now, projection }, pressed);
    },

    updateCall: ({ params, body, db }) => tell(db, params.id, body),

    updateCallByUuid: ({ params, body, db }) => tell(db, params.uuid, body),

    listCallEvents: async ({ params, query, db }) => {
      const narrowed = { ...query, call_id: await findRecord(db, 'calls', params.id) };
      return page(narrowed, {
        db,
        now: clock(),
        projection: callEventProjection,
        orders: {},
        filters: of,
      });
    },

    listCallAttempts: async ({ params, query, db }) => {
      const narrowed = { ...query, call_id: await findRecord(db, 'calls', params.id) };
      return page(narrowed, {
        db,
        now: clock(),
        projection: callAttemptProjection,
        orders: {},
        filters: of,
      });
    },
  } satisfies Partial<Handlers>;
};
