import { answerCall } from '../calls/answer-call';
import { saveRecording } from '../calls/change-call';
import { handleCallEvent } from '../calls/handle-event';
import { findNextConference, conferenceName } from '../calls/play-keys';
import { saveLegPrice } from '../calls/leg-prices';
import { findCall, readAttempts, readCall, type CallRow } from '../calls/read-call';
import { recordLeg } from '../calls/record-leg';
import { reportOutbound } from '../calls/report-outbound';
import { readSession, type CallSession } from '../calls/session';
import { isOver, type CallStatus } from '../../platform/carriers/carrier';
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
import { readReportedCaller, requirePossible } from '../../data/phone/caller-number';
import { parseOwnNumber } from '../../data/phone/parse-number';
import {
  runWithPreDialChecks,
  type PreDialCheckRequired,
  type PreDialState,
} from '../routing/pre-dial';
import { endDial } from './end-dial';
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
import { loadOfferWords } from '../routing/context';
import { isSip } from '../../platform/sip';
import { trimUrl } from '../../platform/trim-url';
import { BASE_PATH } from '../../platform/contract/contract';
import { startCall, type StartedCall } from '../calls/start';
import { findCalledNumber } from '../numbers/called-number';

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

const readOwnNumber = (text: string): number => requirePossible(parseOwnNumber(text), text, 'To');

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
          const { from, ...rest } = does;
          return new Twiml(connectTwiml(dialect, { ...rest, from: `+${from}` }));
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
      if (call && status && isOver(status))
        await endCall(db, { call, status, duration: seconds(body.CallDuration), dialect }, clock());
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
      const answered = { event: 'answered', attempt, leg_sid: body.CallSid } as const;
      const session = await handleCallEvent(db, call, answered, clock());
      const tones = await findTones(db, session.id, attempt);
      if (hasTaken(session, attempt)) return new Twiml(tonesTwiml(tones));
      if (!['ask_for_key', 'wait'].includes(session.instruction.action)) return new Twiml(HANG_UP);
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

const hasTaken = ({ instruction }: CallSession, attempt: string) =>
  instruction.action === 'connect' && instruction.attempt === attempt.toLowerCase();

/** TwiML of the next step for the caller. `first`: the call was not answered before. */
async function nextTwiml(
  db: Db,
  reference: Reference,
  { first, config, dialect }: Pick<Door, 'config' | 'dialect'> & { first: boolean },
): Promise<Twiml> {
  const call = await readCall(db, reference);
  const { instruction, number_called } = await readSession(db, call, { fresh: true });
  const words =
    first && call.offer_id !== null ? await loadOfferWords(db, call.offer_id) : undefined;
  return new Twiml(
    buildTwiml(instruction, {
      dialect,
      urls: buildCallbackUrls(config.public_url, call),
      greeting: words?.greeting_message ?? null,
      number_called: number_called ?? '',
      unanswered: first,
    }),
  );
}

interface CarriedCall {
  uuid: string;
  round: number;
  /** E.164 without the plus. */
  number_called: number | null;
}

const buildBase = (publicUrl: string): string => `${trimUrl(publicUrl)}${BASE_PATH}/telephony`;

/** The carrier reports there about a text message; `key` is the uuid of the message. */
const messageStatusUrl = (publicUrl: string, key: string): string =>
  `${buildBase(publicUrl)}/message_status?${new URLSearchParams({ key }).toString()}`;

/**
 * URLs that a carrier calls about a call. Its requests about a leg to a buyer name neither the call
 * nor a number of the company, so the URLs do.
 */
function buildCallbackUrls(
  publicUrl: string,
  { uuid, round, number_called }: CarriedCall,
): CallbackUrls & { key(attempt: string): string; conference_status(n: number): string } {
  const base = buildBase(publicUrl);
  const url = (name: string, more: Record<string, string> = {}) => {
    const query = new URLSearchParams({
      call: uuid,
      ...more,
      number: String(number_called ?? ''),
    });
    return `${base}/${name}?${query.toString()}`;
  };
  return {
    dial_status: url('dial_status', { round: String(round) }),
    conference_status: (n) => url('dial_status', { round: String(round), conference: String(n) }),
    voicemail: url('voicemail'),
    attempt_status: (attempt) => url('attempt_status', { attempt }),
    whisper: (attempt) => url('whisper', { attempt }),
    key: (attempt) => url('key', { attempt }),
  };
}

interface CallEnd {
  dialect: Dialect;
  call: CallRow;
  status: CallStatus;
  /** Seconds since the caller's side was answered. */
  duration: number | undefined;
}

/**
 * Ends a call. The report of the end of the dialing says how long a buyer has talked. Without that
 * report the clock decides, up to the time that the caller was there.
 */
async function endCall(db: Db, end: CallEnd, now: Date): Promise<void> {
  const { call, duration } = end;
  const tookCall = await wasTakenUnseen(db, end);
  const ofTaker = tookCall && { duration, took_call: tookCall };
  const event = { event: 'completed', total_duration: duration, ...ofTaker } as const;
  await handleCallEvent(db, call.id, event, now);
}

/**
 * True if a buyer had a call of which nothing was reported before it was considered over. A caller
 * who hears no greeting is only answered when a buyer is: then the caller's side lasted as long as
 * the buyer has talked.
 */
async function wasTakenUnseen(
  db: Db,
  { call, status, duration, dialect }: CallEnd,
): Promise<boolean> {
  if (!dialect.answers_with_buyer) return false;
  const isUnseen = call.hangup_cause === 'lost' && call.connected_at === null;
  const isAnswered = status === 'completed' && (duration ?? 0) > 0;
  if (!isUnseen || !isAnswered || call.direction === 'outbound') return false;
  const words = call.offer_id === null ? undefined : await loadOfferWords(db, call.offer_id);
  return !words?.greeting_message?.trim();
}

interface CarrierCall {
  call_sid: string;
  /** A number, a SIP address, or a word for a withheld number. */
  from: string | undefined;
  to: string;
  caller_city: string | undefined;
  caller_state: string | undefined;
  caller_zip: string | undefined;
  preDial?: PreDialState | undefined;
}

/**
 * Starts a call that a carrier reports. Undefined if the number called forwards to nothing. A
 * caller who does not show a telephone number counts as one who withholds it.
 */
async function receiveCall(
  db: Db,
  { call_sid, from, to, preDial, ...caller }: CarrierCall,
  now: Date,
): Promise<StartedCall | PreDialCheckRequired | undefined> {
  const numberCalled = readOwnNumber(to);
  const called = await findCalledNumber(db, numberCalled);
  if (!called || (called.offer_id === null && called.buyer_id === null)) return undefined;
  const reported = await readReportedCaller(db, from);
  const incoming = {
    ...called,
    carrier: 'twilio',
    call_sid,
    caller_number: reported.number,
    caller_city: caller.caller_city || null,
    caller_state: caller.caller_state || null,
    caller_zip: caller.caller_zip || null,
    number_called: numberCalled,
    sub_id: null,
    tokens: reported.tokens,
    preDial,
  };
  return startCall(db, incoming, now);
}
