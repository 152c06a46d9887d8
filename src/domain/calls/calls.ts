import {
  buildReferenceConditions,
  findRecord,
  lockRecord,
  type Reference,
} from '../../data/records';
import { contract, facets } from '../../platform/contract/contract';
import { semaphore } from '../../data/semaphore';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { list, page } from '../../api/records/list';
import { requireUnchanged, loadWriteReply } from '../../api/records/record';
import { recordHandlers } from '../../api/records/record-handlers';
import { callerNumber } from '../../data/phone/caller-number';
import { runWithPreDialChecks } from '../routing/pre-dial';
import {
  callAttemptProjection,
  callEventProjection,
  callProjection as projection,
} from './columns';
import { placeCall } from './place-call';
import { sendKeyPress } from './send-key-press';
import { updateCall, type CallChanges } from './update-call';
import { type Filters } from '../../api/records/filters';
import { cachedCount, CHRONOLOGICAL, type SortKey } from '../../data/projection/list-statements';

const orders: Record<string, SortKey> = {
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  ended_at: { sql: 't.ended_at', type: 'timestamptz', nullable: true },
  // The stored value: the duration of a call in progress grows, which would move it between pages.
  total_duration: { sql: 't.total_duration', type: 'bigint', nullable: true },
  revenue: { sql: 't.revenue', type: 'numeric' },
  payout: { sql: 't.payout', type: 'numeric' },
  status: { sql: 't.status', type: 'text' },
};

/** A condition whose calls count_call_kinds() of the database counts, and its opposite. */
const buildCountedFilter = (kind: string, holds: string, opposite: string) => {
  const n = cachedCount(`calls/${kind}`);
  return {
    cases: { true: holds, false: opposite },
    totals: { true: n, false: `${cachedCount('calls')} - ${n}` },
  };
};
const outbound = cachedCount('calls/outbound');
const inProgress = `(
  SELECT count(*) FROM calls t
  WHERE t.company_id = {company_id} AND t.deleted_at IS NULL AND t.ended_at IS NULL
)`;

/** The conditions are written as in the partial indexes of calls. */
export const callFilters = {
  id_from: 't.id >= {id_from}::bigint',
  id_to: 't.id <= {id_to}::bigint',
  ended_at_from: 't.ended_at >= {ended_at_from}::timestamptz',
  ended_at_to: 't.ended_at <= {ended_at_to}::timestamptz',
  caller_number: 't.caller_number = {caller_number}::bigint',
  status: 't.status = {status}',
  category: {
    cases: { outbound: `t.direction = 'outbound'`, inbound: `t.direction = 'inbound'` },
    totals: { outbound, inbound: `${cachedCount('calls')} - ${outbound}` },
  },
  buyer_converted: buildCountedFilter(
    'buyer_converted',
    't.buyer_converted',
    'NOT t.buyer_converted',
  ),
  offer_converted: buildCountedFilter(
    'offer_converted',
    't.traffic_source_converted',
    'NOT t.traffic_source_converted',
  ),
  either_converted: buildCountedFilter(
    'either_converted',
    '(t.buyer_converted OR t.traffic_source_converted)',
    'NOT t.buyer_converted AND NOT t.traffic_source_converted',
  ),
  in_progress: {
    cases: { true: 't.ended_at IS NULL', false: 't.ended_at IS NOT NULL' },
    totals: { true: inProgress, false: `${cachedCount('calls')} - ${inProgress}` },
  },
  has_recording: buildCountedFilter(
    'has_recording',
    't.recording_url IS NOT NULL',
    't.recording_url IS NULL',
  ),
  no_buyer: buildCountedFilter('no_buyer', 't.buyer_id IS NULL', 't.buyer_id IS NOT NULL'),
  token_named: 't.token_values ? {token_named}',
  token_like:
    '(t.token_values @> ({token_like}::jsonb->0) OR t.token_values @> ({token_like}::jsonb->1))',
} as const satisfies Filters;

const NON_TEXT_VALUE = /^(-?(0|[1-9]\d{0,14})(\.\d{1,10})?|true|false)$/;

function tokenFilter({
  token_key: key,
  token_value: value,
}: {
  token_key?: string;
  token_value?: string;
}) {
  if (value === undefined) return key === undefined ? {} : { token_named: key };
  if (key === undefined)
    throw HttpProblem.field(
      'token_key',
      'missing_field',
      'must name the token whose value token_value is',
    );
  const plain: unknown = NON_TEXT_VALUE.test(value) ? JSON.parse(value) : value;
  return { token_like: JSON.stringify([{ [key]: value }, { [key]: plain }]) };
}

const FIELDS = facets(contract.document.components.schemas.CallUpdateFields!).properties;

/** Keys of a postback that are no fields become tokens. */
function postback(body: Record<string, unknown> = {}): CallChanges {
  const isField = ([name]: [string, unknown]) => Object.hasOwn(FIELDS, name);
  const entries = Object.entries(body);
  return {
    ...Object.fromEntries(entries.filter(isField)),
    loose: Object.fromEntries(entries.filter((field) => !isField(field))),
  };
}

/**
 * Each call being placed holds a database connection while the carrier answers; other requests need
 * some too.
 */
const MAX_CONCURRENT_CALLS = 4;

/**
 * Calls, inbound and outbound: their list, changes to them, and placing one. Locks are taken in
 * this order: the contact and the lead of an outbound call, the call, caps of groups, caps of
 * buyers, the lead of an inbound call.
 */
export const calls = (deps: Deps) => ({ ...reading(deps), ...changing(deps) });

const reading = ({ clock }: Deps) => {
  const filters = { call_id: 't.call_id = {call_id}::bigint' };
  const ofCall = { orders: CHRONOLOGICAL, filters };
  return {
    listCalls: async ({ query, db }) => {
      const tokens = tokenFilter(query);
      const numberOfCaller = await callerNumber(db, query.caller_number, 'caller_number');
      const referenceFilters = buildReferenceConditions(query, {
        offer_id: 'offers',
        buyer_id: 'buyers',
        traffic_source_id: 'traffic_sources',
        schedule_id: 'schedules',
        number_id: 'numbers',
        lead_id: 'leads',
      });
      const narrowed = { ...query, caller_number: numberOfCaller, ...tokens };
      return list(narrowed, {
        db,
        now: clock(),
        projection,
        orders,
        filters: { ...callFilters, ...referenceFilters },
      });
    },

    showCall: recordHandlers(projection, clock).show,

    listCallEvents: async ({ params, query, db }) => {
      const narrowed = { ...query, call_id: await findRecord(db, 'calls', params.id) };
      return page(narrowed, { db, now: clock(), projection: callEventProjection, ...ofCall });
    },

    listCallAttempts: async ({ params, query, db }) => {
      const narrowed = { ...query, call_id: await findRecord(db, 'calls', params.id) };
      return page(narrowed, { db, now: clock(), projection: callAttemptProjection, ...ofCall });
    },
  } satisfies Partial<Handlers>;
};

const changing = ({ clock, carrier, mailer, config, queue, request, pepper }: Deps) => {
  const limited = semaphore(MAX_CONCURRENT_CALLS);
  const change = async (db: Db, reference: Reference, changes: CallChanges = {}) => {
    const now = clock();
    if (db.log)
      await requireUnchanged(
        { db, now, projection, if_match: undefined },
        (await lockRecord(db, 'calls', reference)).id.toString(),
      );
    const { id, warnings } = await updateCall(db, reference, changes, { now, carrier });
    return loadWriteReply({ db, now, projection }, id, { extra: { warnings } });
  };
  return {
    createCall: async ({ body: order = {}, db }) => {
      const now = clock();
      const channels = { carrier, mailer, mail_from: config.mail_from };
      const placing = { channels, outside: db.outside, queue, now };
      const uuid = await limited(() => placeCall(db, order, placing));
      return loadWriteReply({ db, now, projection }, await findRecord(db, 'calls', uuid), {
        status: 201,
      });
    },

    sendKeyPress: async ({ body: { id, digits, data }, db }) => {
      const now = clock();
      const pressed = await runWithPreDialChecks(
        db,
        { request, pepper, clock, carrier },
        (preDial) => sendKeyPress(db, { id, digits, data, preDial }, { now, carrier }),
      );
      return loadWriteReply({ db, now, projection }, pressed);
    },

    updateCall: ({ params, body, db }) => change(db, params.id, body),

    updateCallByUuid: ({ params, body, db }) => change(db, params.uuid, postback(body)),
  } satisfies Partial<Handlers>;
};
