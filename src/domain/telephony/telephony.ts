import { answerCall } from '../calls/answer-call';
import { saveRecording } from '../calls/change-call';
import { handleCallEvent } from '../calls/handle-event';
import { findNextConference, conferenceName } from '../calls/play-keys';
import { saveLegPrice } from '../calls/leg-prices';
import { findCall, readAttempts, readCall } from '../calls/read-call';
import { recordLeg } from '../calls/record-leg';
import { reportOutbound } from '../calls/report-outbound';
import { selectDialect } from '../../platform/carriers/dialects';
import type { Dialect } from '../../platform/carriers/dialects/dialect';
import {
  toAnsweredBy,
  toCallStatus,
  toFailureCode,
  toMessageStatus,
} from '../../platform/carriers/twilio-words';
import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Call, Handlers } from '../../api/handlers';
import { Twiml } from '../../api/reply/reply';
import { receiveCallStatus, receiveMessageStatus } from '../outreach/receive-status';
import { toCarrierKeyword } from '../outreach/keywords';
import { receiveTextMessage } from '../outreach/receive-text-message';
import { readReportedCaller } from '../../data/phone/caller-number';
import { isOver } from '../../platform/carriers/carrier';
import { runWithPreDialChecks } from '../routing/pre-dial';
import { buildTelephonyUrl, carriedUrls, type CarriedCall } from './carried-call';
import { endDial } from './end-dial';
import { answerLeg, hasTaken, loadNextStep } from './next-step';
import { endCall, readOwnNumber, receiveCall } from './receive-call';
import { receiveLegStatus } from './receive-leg-status';
import {
  conferenceTwiml,
  connectTwiml,
  HANG_UP,
  messageTwiml,
  NOTHING,
  REJECT,
  spokenTwiml,
  tonesTwiml,
  buildTwiml,
  whisperTwiml,
  type CallbackUrls,
} from './twiml';
import { isSip } from '../../platform/sip';

/**
 * Reports of carriers, answered with TwiML. All locks are taken by the code that handles the
 * reports, for calls and for outreach.
 */
export function telephony(deps: Deps) {
  const door = { ...deps, dialect: selectDialect(deps.config.twilio) };
  return {
    ...outboundReports(door),
    ...outboundAnswers(door),
    ...inboundCalls(door),
    ...endOfDials(door),
    ...legsToBuyers(door),
  };
}

interface Door extends Deps {
  /** That of the carrier of this installation. */
  dialect: Dialect;
}

const readPrice = (body: { CallSid: string; Price?: string; PriceUnit?: string }) => ({
  leg_id: body.CallSid,
  price: body.Price,
  currency: body.PriceUnit,
});

const seconds = (text: string | undefined) => (text?.trim() ? Number(text) : undefined);

const outboundReports = ({ clock, config, dialect }: Door) =>
  ({
    receiveSms: async ({ body, db }) => {
      const { number: from, tokens } = await readReportedCaller(db, body.From);
      const message = {
        from,
        tokens,
        to: readOwnNumber(body.To),
        body: body.Body ?? '',
        carrier: 'twilio',
        carrier_message_id: body.MessageSid,
        // Set if the carrier has answered the message itself.
        answered_by_carrier: Boolean(body.OptOutType?.trim()),
        carrier_keyword: toCarrierKeyword(body.OptOutType),
      };
      const { reply } = await receiveTextMessage(db, message, clock());
      if (!reply) return new Twiml(NOTHING);
      return new Twiml(messageTwiml(reply.body, messageStatusUrl(config.public_url, reply.key)));
    },

    receiveMessageStatus: async ({ query, body, db }) => {
      const status = toMessageStatus(body.MessageStatus);
      const errorCode = body.ErrorCode ? toFailureCode(body.ErrorCode, dialect) : undefined;
      // An unknown status is ignored.
      if (status) {
        const report = {
          key: query.key,
          carrier_message_id: body.MessageSid,
          status,
          error_code: errorCode,
        };
        await receiveMessageStatus(db, report, clock());
      }
      return new Twiml(NOTHING);
    },

    receiveCallStatus: async ({ query, body, db }) => {
      const status = toCallStatus(body.CallStatus);
      if (status) {
        const duration = seconds(body.CallDuration);
        const report = { key: query.key, carrier_call_id: body.CallSid, status, duration };
        if (!(await reportOutbound(db, report, clock())))
          await receiveCallStatus(db, report, clock());
      }
      await saveLegPrice(db, query.key ? { uuid: query.key } : undefined, readPrice(body), clock());
      return new Twiml(NOTHING);
    },
  }) satisfies Partial<Handlers>;

/** Calls that we placed are answered: the carrier asks what to do with them. */
const outboundAnswers = ({ clock, config, dialect, request, pepper, carrier }: Door) =>
  ({
    receiveAnswer: async ({ query: { key }, body, db }) => {
      const answeredAt = clock();
      const answeredBy = toAnsweredBy(body.AnsweredBy);
      const answer = {
        key,
        call_sid: body.CallSid,
        answered_by: answeredBy,
        answered_at: answeredAt,
      };
      const does = await runWithPreDialChecks(db, { request, pepper, clock, carrier }, (preDial) =>
        answerCall(db, { ...answer, preDial }, clock()),
      );
      switch (does.kind) {
        case 'route':
          return nextTwiml(db, does.call_id, { first: false, config, dialect });
        case 'connect': {
          const { from, connect_to, timeout_seconds } = does;
          const connection = { from: `+${from}`, connect_to, timeout_seconds };
          return new Twiml(connectTwiml(dialect, connection));
        }
        case 'leave_message':
          return new Twiml(spokenTwiml(does.message));
        case 'hang_up':
          return new Twiml(HANG_UP);
      }
    },
  }) satisfies Partial<Handlers>;

const inboundCalls = ({ clock, config, dialect, request, pepper, carrier }: Door) => {
  const edges = { request, pepper, clock, carrier };
  return {
    receiveCall: async ({ body, db }) => {
      const call = {
        carrier: 'twilio' as const,
        call_sid: body.CallSid,
        from: body.From,
        to: body.To,
        ...readCallerLocation(body),
      };
      const result = await runWithPreDialChecks(db, edges, (preDial) =>
        receiveCall(db, { ...call, preDial }, clock()),
      );
      return result
        ? nextTwiml(db, result.session.id, { first: true, config, dialect })
        : new Twiml(REJECT);
    },

    receiveCallEnd: async ({ body, db }) => {
      const status = toCallStatus(body.CallStatus);
      const call = await findCall(db, 'twilio', body.CallSid);
      if (call && status && isOver(status)) {
        const { answers_with_buyer } = dialect;
        const duration = seconds(body.CallDuration);
        await endCall(db, { call, status, duration, answers_with_buyer }, clock());
      }
      await saveLegPrice(db, call, readPrice(body), clock());
      return new Twiml(NOTHING);
    },
  } satisfies Partial<Handlers>;
};

const endOfDials = ({ clock, config, dialect, request, pepper, carrier }: Door) => {
  const edges = { request, pepper, clock, carrier };
  return {
    receiveDialStatus: async ({ query: { call, round, conference: ended = 0 }, body, db }) => {
      const ofCaller = toCallStatus(body.CallStatus);
      const callerLeft = ofCaller !== undefined && isOver(ofCaller);
      const carried = await readCall(db, call);
      const next = callerLeft ? undefined : await findNextConference(db, carried, ended);
      if (next !== undefined) {
        if (body.RecordingUrl) await saveRecording(db, carried.id, body.RecordingUrl, clock());
        // The time limit of the connection begins again, and with it that of its slots.
        await handleCallEvent(db, call, { event: 'duration' }, clock());
        const { conference_status } = buildCallbackUrls(config.public_url, carried);
        return new Twiml(conferenceTwiml(conferenceName(carried, next), conference_status(next)));
      }
      const end = {
        call,
        round,
        status: toCallStatus(body.DialCallStatus) ?? 'failed',
        leg_sid: body.DialCallSid,
        // A conference begins long after the buyer has answered.
        duration: carried.conferences > 0 ? undefined : seconds(body.DialCallDuration),
        recording_url: body.RecordingUrl,
        bridged: body.DialBridged === undefined ? undefined : body.DialBridged === 'true',
        caller_left: callerLeft,
      };
      await runWithPreDialChecks(db, edges, (preDial) => endDial(db, { ...end, preDial }, clock()));
      return nextTwiml(db, call, { first: false, config, dialect });
    },

    receiveVoicemail: async ({ query, body, db }) => {
      const call = await readCall(db, query.call);
      if (body.RecordingUrl) await saveRecording(db, call.id, body.RecordingUrl, clock());
      return new Twiml(HANG_UP);
    },
  } satisfies Partial<Handlers>;
};

/** Location of the caller, by either name of each parameter. */
const readCallerLocation = (body: Call<'receiveCall'>['body']) => ({
  caller_city: body.CallerCity ?? body.FromCity,
  caller_state: body.CallerState ?? body.FromState,
  caller_zip: body.CallerZip ?? body.FromZip,
});

const legsToBuyers = (deps: Door) => {
  const { clock, config, dialect, request, pepper, carrier } = deps;
  const edges = { request, pepper, clock, carrier };
  const record = legRecorder(deps);
  return {
    receiveAttemptStatus: async ({ query: { call, attempt }, body, db }) => {
      const status = toCallStatus(body.CallStatus);
      if (status) {
        const report = { call, attempt, status, leg_sid: body.CallSid };
        await runWithPreDialChecks(db, edges, (preDial) =>
          receiveLegStatus(db, { ...report, preDial }, clock()),
        );
        if (status === 'in_progress') await record(db, { call, attempt, leg_sid: body.CallSid });
      }
      const { CallSid: legId, Price: price, PriceUnit: currency } = body;
      if (legId && price)
        await saveLegPrice(
          db,
          await readCall(db, call),
          { leg_id: legId, price, currency },
          clock(),
        );
      return new Twiml(NOTHING);
    },

    receiveWhisper: async ({ query: { call, attempt }, body, db }) => {
      const leg = { call, attempt, leg_sid: body.CallSid };
      const { call_id, action } = await answerLeg(db, leg, clock());
      const tones = await findTones(db, call_id, attempt);
      if (action === 'connect') return new Twiml(tonesTwiml(tones));
      if (action === 'hang_up') return new Twiml(HANG_UP);
      const urls = buildCallbackUrls(config.public_url, await readCall(db, call));
      return new Twiml(whisperTwiml(dialect, urls.key(attempt), tones));
    },

    receiveKey: async ({ query: { call, attempt }, body, db }) => {
      const key = body.Digits?.trim() || 'nothing';
      const session = await runWithPreDialChecks(db, edges, (preDial) =>
        handleCallEvent(db, call, { event: 'key_press', attempt, key, preDial }, clock()),
      );
      if (hasTaken(session, attempt)) await record(db, { call, attempt, leg_sid: body.CallSid });
      return new Twiml(hasTaken(session, attempt) ? NOTHING : HANG_UP);
    },
  } satisfies Partial<Handlers>;
};

interface TakenLeg {
  call: Reference;
  attempt: string;
  leg_sid: string | undefined;
}

const legRecorder =
  ({ clock, config, carrier }: Deps) =>
  async (db: Db, { call, attempt, leg_sid }: TakenLeg): Promise<void> => {
    if (!leg_sid) return;
    const row = await readCall(db, call);
    const reportTo = buildCallbackUrls(config.public_url, row).voicemail;
    const leg = { call: row, attempt, leg_sid, report_to: reportTo };
    await recordLeg(db, leg, { carrier, now: clock() });
  };

/** The tones that a SIP buyer hears when it answers; a telephone number gets them by <Number>. */
async function findTones(db: Db, callId: number, attempt: string): Promise<string | null> {
  const attempts = await readAttempts(db, callId);
  const dial = attempts.find(({ uuid }) => uuid === attempt.toLowerCase())?.dial;
  return dial && isSip(dial.number) ? dial.dtmf_tones : null;
}

/** TwiML of the next step for the caller. */
async function nextTwiml(
  db: Db,
  reference: Reference,
  { first, config, dialect }: Pick<Door, 'config' | 'dialect'> & { first: boolean },
): Promise<Twiml> {
  const { call, instruction, ...words } = await loadNextStep(db, reference, { first });
  const urls = buildCallbackUrls(config.public_url, call);
  return new Twiml(buildTwiml(instruction, { dialect, urls, ...words, unanswered: first }));
}

/** The carrier reports there about a text message; `key` is the uuid of the message. */
const messageStatusUrl = (publicUrl: string, key: string): string =>
  `${buildTelephonyUrl(publicUrl)}/message_status?${new URLSearchParams({ key }).toString()}`;

function buildCallbackUrls(
  publicUrl: string,
  call: CarriedCall & { round: number },
): CallbackUrls & { key(attempt: string): string; conference_status(n: number): string } {
  const url = carriedUrls(publicUrl, call);
  const round = String(call.round);
  return {
    dial_status: url('dial_status', { round }),
    conference_status: (n) => url('dial_status', { round, conference: String(n) }),
    voicemail: url('voicemail'),
    attempt_status: (attempt) => url('attempt_status', { attempt }),
    whisper: (attempt) => url('whisper', { attempt }),
    key: (attempt) => url('key', { attempt }),
  };
}
