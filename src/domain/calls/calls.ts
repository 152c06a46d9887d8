import { findRecord, lockRecord, type Reference } from '../../data/records';
import { contract, facets } from '../../platform/contract/contract';
import { semaphore } from '../../data/semaphore';
import type { Deps } from '../deps';
import { HttpProblem, toErrors } from '../../platform/errors';
import type { Call, Handlers } from '../../api/handlers';
import { requireUnchanged, loadWriteReply } from '../../api/records/record';
import { callerNumber } from '../../data/phone/caller-number';
import { runWithPreDialChecks } from '../routing/pre-dial';
import { call, callAttempt, callEvent, callProjection as projection } from './columns';
import { placeCall } from './place-call';
import { sendKeyPress } from './send-key-press';
import { updateCall, type CallChanges } from './update-call';

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

const reading = (deps: Deps) => {
  const { clock } = deps;
  return {
    ...call.handlers(deps),

    listCalls: async ({ query, db }) => {
      const tokens = tokenFilter(query);
      const caller = await callerNumber(db, query.caller_number, 'caller_number');
      return call.list({ ...query, caller_number: caller, ...tokens }, { db, now: clock() });
    },

    listCallEvents: async ({ params, query, db }) => {
      const callId = await findRecord(db, 'calls', params.id);
      return callEvent.list({ ...query, call_id: callId }, { db, now: clock() });
    },

    listCallAttempts: async ({ params, query, db }) => {
      const callId = await findRecord(db, 'calls', params.id);
      return callAttempt.list({ ...query, call_id: callId }, { db, now: clock() });
    },
  } satisfies Partial<Handlers>;
};

const changing = ({ clock, carrier, mailer, config, queue, request, pepper }: Deps) => {
  const limited = semaphore(MAX_CONCURRENT_CALLS);
  const change = async (
    { db, warnings: placeholders = {} }: Pick<Call<'updateCall'>, 'db' | 'warnings'>,
    reference: Reference,
    changes: CallChanges = {},
  ) => {
    const now = clock();
    if (db.log)
      await requireUnchanged(
        { db, now, projection, if_match: undefined },
        (await lockRecord(db, 'calls', reference)).id.toString(),
      );
    const done = await updateCall(db, reference, changes, { now, carrier, queue });
    const warnings = { ...toErrors(placeholders), ...done.warnings };
    return loadWriteReply({ db, now, projection }, done.id, { extra: { warnings } });
  };
  const report = (call: Pick<Call<'updateCallByUuid'>, 'params' | 'body' | 'db' | 'warnings'>) =>
    change(call, call.params.uuid, postback(call.body));
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
        (preDial) => sendKeyPress(db, { id, digits, data, preDial }, { now, carrier, queue }),
      );
      return loadWriteReply({ db, now, projection }, pressed);
    },

    updateCall: (call) => change(call, call.params.id, call.body),

    updateCallByUuid: report,
    updateCallByUuidByGet: report,
    updateCallByUuidByPut: report,
  } satisfies Partial<Handlers>;
};
