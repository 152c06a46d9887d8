import { saveRecording } from '../calls/change-call';
import { handleCallEvent } from '../calls/handle-event';
import { findCall, readCall } from '../calls/read-call';
import { readSession, type CallSession } from '../calls/session';
import { isOver } from '../carriers/carrier';
import { callStatusOf, failureCodeOf, messageStatusOf } from '../carriers/twilio-words';
import type { Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { Twiml } from '../http/reply';
import { receiveCallStatus, receiveMessageStatus } from '../outreach/receive-status';
import { receiveTextMessage } from '../outreach/receive-text-message';
import { callerNumber } from '../phone/caller-number';
import { withPreDialChecks } from '../routing/pre-dial-webhooks';
import { callbackUrlsOf, messageStatusUrl } from './callback-urls';
import { endDial } from './end-dial';
import { receiveCall } from './receive-call';
import { receiveLegStatus } from './receive-leg-status';
import { HANG_UP, messageTwiml, NOTHING, REJECT, twimlOf, whisperTwiml } from './twiml';
import { readOfferWords } from '../routing/caller-facts';

/**
 * What carriers report, and what they are to do, as TwiML. All locks are taken in the rooms that
 * handle the reports: calls and outreach.
 */
export const telephony = (deps: Deps) => ({
  ...outboundReports(deps),
  ...inboundCalls(deps),
  ...legsToBuyers(deps),
});

const seconds = (sent: string | undefined) => (sent === undefined ? undefined : Number(sent));

/** Texts, and what became of the texts and calls that were sent out. */
const outboundReports = ({ clock, config }: Deps) =>
  ({
    receiveSms: async ({ body, db }) => {
      const message = {
        from: await callerNumber(db, body.From, 'From'),
        to: await callerNumber(db, body.To, 'To'),
        body: body.Body ?? '',
        carrier: 'twilio',
        carrier_message_id: body.MessageSid,
        // What the carrier has answered itself, it says here.
        answered_by_carrier: Boolean(body.OptOutType),
      };
      const { reply } = await receiveTextMessage(db, message, clock());
      if (!reply) return new Twiml(NOTHING);
      return new Twiml(messageTwiml(reply.body, messageStatusUrl(config.public_url, reply.key)));
    },

    receiveMessageStatus: async ({ query, body, db }) => {
      const status = messageStatusOf(body.MessageStatus);
      const error_code = body.ErrorCode ? failureCodeOf(body.ErrorCode) : undefined;
      // A status that is not known is ignored.
      if (status) {
        const report = { key: query.key, carrier_message_id: body.MessageSid, status, error_code };
        await receiveMessageStatus(db, report, clock());
      }
      return new Twiml(NOTHING);
    },

    receiveCallStatus: async ({ query, body, db }) => {
      const status = callStatusOf(body.CallStatus);
      if (status) {
        const duration = seconds(body.CallDuration);
        const report = { key: query.key, carrier_call_id: body.CallSid, status, duration };
        await receiveCallStatus(db, report, clock());
      }
      return new Twiml(NOTHING);
    },
  }) satisfies Partial<Handlers>;

const inboundCalls = ({ clock, config, request, pepper }: Deps) => {
  const edges = { request, pepper, clock };
  return {
    receiveCall: async ({ body, db }) => {
      const call = {
        call_sid: body.CallSid,
        from: body.From,
        to: body.To,
        caller_city: body.CallerCity,
      };
      const begun = await withPreDialChecks(db, edges, (vetoes) =>
        receiveCall(db, { ...call, vetoes }, clock()),
      );
      return begun
        ? nextTwiml(db, begun.session.id, { first: true, public_url: config.public_url })
        : new Twiml(REJECT);
    },

    receiveCallEnd: async ({ body, db }) => {
      const status = callStatusOf(body.CallStatus);
      const call =
        status && isOver(status) ? await findCall(db, 'twilio', body.CallSid) : undefined;
      // The carrier's duration is not passed on: it includes the time before a buyer answered.
      if (call) await handleCallEvent(db, call.id, { event: 'completed' }, clock());
      return new Twiml(NOTHING);
    },

    receiveDialStatus: async ({ query: { call, round }, body, db }) => {
      const of_caller = callStatusOf(body.CallStatus ?? '');
      const end = {
        call,
        round,
        status: callStatusOf(body.DialCallStatus) ?? 'failed',
        leg_sid: body.DialCallSid,
        duration: seconds(body.DialCallDuration),
        recording_url: body.RecordingUrl,
        bridged: body.DialBridged === undefined ? undefined : body.DialBridged === 'true',
        caller_left: of_caller !== undefined && isOver(of_caller),
      };
      await withPreDialChecks(db, edges, (vetoes) => endDial(db, { ...end, vetoes }, clock()));
      return nextTwiml(db, call, { first: false, public_url: config.public_url });
    },

    receiveVoicemail: async ({ query, body, db }) => {
      const call = await readCall(db, query.call);
      if (body.RecordingUrl) await saveRecording(db, call.id, body.RecordingUrl, clock());
      return new Twiml(HANG_UP);
    },
  } satisfies Partial<Handlers>;
};

const legsToBuyers = ({ clock, config, request, pepper }: Deps) => {
  const edges = { request, pepper, clock };
  return {
    receiveAttemptStatus: async ({ query: { call, attempt }, body, db }) => {
      const status = callStatusOf(body.CallStatus);
      if (status) {
        const report = { call, attempt, status, leg_sid: body.CallSid };
        await withPreDialChecks(db, edges, (vetoes) =>
          receiveLegStatus(db, { ...report, vetoes }, clock()),
        );
      }
      return new Twiml(NOTHING);
    },

    receiveWhisper: async ({ query: { call, attempt }, db }) => {
      const session = await handleCallEvent(db, call, { event: 'answered', attempt }, clock());
      if (hasTaken(session, attempt)) return new Twiml(NOTHING);
      if (!['ask_for_key', 'wait'].includes(session.instruction.action)) return new Twiml(HANG_UP);
      const urls = callbackUrlsOf(config.public_url, await readCall(db, call));
      return new Twiml(whisperTwiml(urls.key(attempt)));
    },

    receiveKey: async ({ query: { call, attempt }, body, db }) => {
      const key = body.Digits?.trim() || 'nothing';
      const session = await withPreDialChecks(db, edges, (vetoes) =>
        handleCallEvent(db, call, { event: 'key_press', attempt, key, vetoes }, clock()),
      );
      return new Twiml(hasTaken(session, attempt) ? NOTHING : HANG_UP);
    },
  } satisfies Partial<Handlers>;
};

const hasTaken = ({ instruction }: CallSession, attempt: string) =>
  instruction.action === 'connect' && instruction.attempt === attempt.toLowerCase();

/** What the carrier is to do with the caller now. `first`: the call was not answered before. */
async function nextTwiml(
  db: Db,
  reference: Reference,
  { first, public_url }: { first: boolean; public_url: string },
): Promise<Twiml> {
  const call = await readCall(db, reference);
  const { instruction, number_called } = await readSession(db, call, { fresh: true });
  const words =
    first && call.offer_id !== null ? await readOfferWords(db, call.offer_id) : undefined;
  return new Twiml(
    twimlOf(instruction, {
      urls: callbackUrlsOf(public_url, call),
      greeting: words?.greeting_message ?? null,
      number_called: number_called ?? '',
      unanswered: first,
    }),
  );
}
