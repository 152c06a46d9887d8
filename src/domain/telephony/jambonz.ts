import { answerCall } from '../calls/answer-call';
import { handleCallEvent } from '../calls/handle-event';
import { findCall, readAttempts, readCall } from '../calls/read-call';
import { reportOutbound } from '../calls/report-outbound';
import { isOver, type AnsweredBy } from '../../platform/carriers/carrier';
import {
  isMachineSpeaking,
  readLegOfTag,
  readTag,
  toAnsweredBy,
  toCallStatus,
} from '../../platform/carriers/jambonz-words';
import type { Db } from '../../data/db';
import type { Reference } from '../../data/records';
import type { Deps } from '../deps';
import type { Call, Handlers } from '../../api/handlers';
import { receiveCallStatus } from '../outreach/receive-status';
import { runWithPreDialChecks } from '../routing/pre-dial';
import { buildTelephonyUrl, carriedUrls } from './carried-call';
import { endDial } from './end-dial';
import {
  askForKeyVerbs,
  buildVerbs,
  connectVerb,
  declineVerb,
  HANG_UP,
  say,
  tagVerb,
  tonesVerbs,
  waitVerbs,
  type Verb,
} from './jambonz-verbs';
import { answerLeg, hasTaken, loadNextStep } from './next-step';
import { endCall, receiveCall } from './receive-call';
import { receiveLegStatus } from './receive-leg-status';

/** Reports of jambonz, answered with verbs: the door for TwiML is `telephony`. */
export function jambonz(deps: Deps) {
  const { clock } = deps;
  return {
    receiveJambonzCall: async ({ body, db }) => {
      const tag = readTag(body.customerData);
      if (tag.key) return answerPlacedCall(deps, db, { body, tag, key: tag.key });
      // A call that another user of the application has placed.
      if (body.direction === 'outbound') return [HANG_UP];
      const { call_sid, from, to } = body;
      const call = { carrier: 'jambonz' as const, call_sid, from, to };
      const result = await runChecked(deps, db, (preDial) =>
        receiveCall(db, { ...call, preDial }, clock()),
      );
      if (!result) return [declineVerb(null, null)];
      return buildNext(deps, db, result.session.id, { first: true, unanswered: true });
    },

    receiveJambonzDial: async ({ query: { call, round, trunk }, body, db }) => {
      const ofCaller = toCallStatus(body.call_status);
      const end = {
        ...{ call, round, trunk },
        status: toCallStatus(body.dial_call_status) ?? ('no_answer' as const),
        leg_sid: body.dial_call_sid,
        sip_code: body.dial_sip_status,
        // The clock decides: jambonz does not say how long a buyer has talked.
        duration: undefined,
        recording_url: undefined,
        bridged: undefined,
        caller_left: ofCaller !== undefined && isOver(ofCaller),
      };
      await runChecked(deps, db, (preDial) => endDial(db, { ...end, preDial }, clock()));
      const unanswered = body.direction === 'inbound' && ofCaller !== 'in_progress';
      return buildNext(deps, db, call, { first: false, unanswered });
    },

    receiveJambonzConfirm: async ({ query: { call, attempt }, body, db }) =>
      // The question for a key gives its reason to ask again.
      body.reason === undefined
        ? confirmLeg(deps, db, { call, attempt, body })
        : receiveKey(deps, db, { call, attempt, body }),

    receiveJambonzStatus: async ({ body, db }) => {
      const status = toCallStatus(body.call_status);
      if (!status) return [];
      const { call_sid: sid, parent_call_sid: parent, customerData, to, duration } = body;
      const tag = readTag(customerData);
      if (parent) {
        const [call, attempt] = [tag.call, readLegOfTag(customerData, to)];
        if (!call || !attempt) return [];
        const leg = { call, attempt, status, leg_sid: sid, sip_code: body.sip_status };
        await runChecked(deps, db, (preDial) => receiveLegStatus(db, { ...leg, preDial }, clock()));
        return [];
      }
      if (tag.key) {
        const report = { key: tag.key, carrier_call_id: sid, status, duration };
        if (!(await reportOutbound(db, report, clock())))
          await receiveCallStatus(db, report, clock());
        return [];
      }
      const call = await findCall(db, 'jambonz', sid);
      if (call && isOver(status))
        await endCall(db, { call, status, duration, answers_with_buyer: true }, clock());
      return [];
    },
  } satisfies Partial<Handlers>;
}

/** Runs work that may have to ask webhooks first. */
const runChecked = <Result>(
  { request, pepper, clock, carrier }: Deps,
  db: Db,
  work: Parameters<typeof runWithPreDialChecks<Result>>[2],
): Promise<Result> => runWithPreDialChecks(db, { request, pepper, clock, carrier }, work);

/** uuids of the call and the attempt are in the URLs that a dial has. */
const buildNext = async (
  { config }: Deps,
  db: Db,
  reference: Reference,
  { first, unanswered }: { first: boolean; unanswered: boolean },
): Promise<Verb[]> => {
  const { call, instruction, ...words } = await loadNextStep(db, reference, { first });
  const url = carriedUrls(config.public_url, call);
  const round = String(call.round);
  return buildVerbs(instruction, {
    call: call.uuid,
    buildDialHook: (trunk) => url('jambonz/dial', { round, ...(trunk && { trunk }) }),
    buildConfirmHook: (attempt) => url('jambonz/confirm', { attempt }),
    ...words,
    unanswered,
  });
};

/** Longer than the detection takes to decide, and than a machine that is heard may greet. */
const DETECTION_SECONDS = 20;
const GREETING_SECONDS = 60;

interface PlacedCall {
  body: Call<'receiveJambonzCall'>['body'];
  tag: ReturnType<typeof readTag>;
  key: string;
}

/**
 * A call that we placed is answered, or what detects machines has decided. The first question comes
 * before that: the answer is to wait. Later events change nothing.
 */
async function answerPlacedCall(
  deps: Deps,
  db: Db,
  { body, tag, key }: PlacedCall,
): Promise<Verb[]> {
  const { detect, answered_by } = tag;
  const { type: event, from = '', call_sid } = body;
  const own = { key, number: tag.number ?? from.replace(/\D/g, '') };
  const hook = `${buildTelephonyUrl(deps.config.public_url)}/jambonz/call`;
  if (event === undefined)
    return detect
      ? waitVerbs(DETECTION_SECONDS, own, hook)
      : answer(deps, db, { key, call_sid, answered_by, is_event: false });
  if (!detect) return [];
  if (isMachineSpeaking(event, detect))
    return waitVerbs(GREETING_SECONDS, { ...own, answered_by: 'machine' }, hook);
  const decision = toAnsweredBy(event, detect);
  return decision ? answer(deps, db, { key, call_sid, answered_by: decision, is_event: true }) : [];
}

interface PlacedAnswer {
  key: string;
  call_sid: string;
  answered_by: AnsweredBy | undefined;
  /** True if the call goes on with what it does where there are no verbs. */
  is_event: boolean;
}

async function answer(
  deps: Deps,
  db: Db,
  { is_event, ...answered }: PlacedAnswer,
): Promise<Verb[]> {
  const { clock } = deps;
  const answeredAt = clock();
  const does = await runChecked(deps, db, (preDial) =>
    answerCall(db, { ...answered, answered_at: answeredAt, preDial }, clock()),
  );
  if (is_event && does.is_repeated) return [];
  switch (does.kind) {
    case 'route':
      return buildNext(deps, db, does.call_id, { first: false, unanswered: false });
    case 'connect': {
      const { from, connect_to, timeout_seconds } = does;
      const connection = { number_called: `+${from}`, own_caller_id: true, timeout_seconds };
      return [connectVerb(connect_to, connection), HANG_UP];
    }
    case 'leave_message':
      return [...say(does.message), HANG_UP];
    case 'hang_up':
      return [HANG_UP];
  }
}

interface ConfirmedLeg {
  call: string;
  attempt: string;
  body: Call<'receiveJambonzConfirm'>['body'];
}

/** A buyer has answered: the caller is connected to it when the verbs have ended. */
async function confirmLeg(
  { clock, config }: Deps,
  db: Db,
  { call, attempt, body }: ConfirmedLeg,
): Promise<Verb[]> {
  const leg = { call, attempt, leg_sid: body.call_sid };
  const { call_id, action } = await answerLeg(db, leg, clock());
  if (action === 'hang_up') return [HANG_UP];
  const tones = await findTones(db, call_id, attempt);
  if (action === 'connect') return tonesVerbs(tones);
  const url = carriedUrls(config.public_url, await readCall(db, call_id));
  return askForKeyVerbs(url('jambonz/confirm', { attempt }), tones);
}

async function findTones(db: Db, callId: number, attempt: string): Promise<string | null> {
  const attempts = await readAttempts(db, callId);
  return attempts.find(({ uuid }) => uuid === attempt.toLowerCase())?.dial.dtmf_tones ?? null;
}

/** Nothing follows for a buyer that does not take the call: the verb after the question ends it. */
async function receiveKey(
  deps: Deps,
  db: Db,
  { call, attempt, body }: ConfirmedLeg,
): Promise<Verb[]> {
  const key = body.digits?.trim() || 'nothing';
  const session = await runChecked(deps, db, (preDial) =>
    handleCallEvent(db, call, { event: 'key_press', attempt, key, preDial }, deps.clock()),
  );
  if (!hasTaken(session, attempt)) return [];
  const { uuid, number_called } = await readCall(db, session.id);
  const legs = body.to === undefined ? {} : { [body.to]: attempt };
  return [tagVerb({ number: String(number_called ?? ''), call: uuid, legs })];
}
