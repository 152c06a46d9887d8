import { isOver } from '../carriers/carrier';
import { callStatusOf, failureCodeOf, messageStatusOf } from '../carriers/twilio-words';
import { readOfferWords } from '../routing/caller-facts';
import { callerNumber } from '../phone/caller-number';
import { findCall, saveRecording, readCall } from '../calls/queries/calls';
import type { Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { Twiml } from '../http/reply';
import { hooksOf } from './callback-urls';
import { HANG_UP, NOTHING, REJECT, twimlOf, whisperTwiml } from './twiml';
import { withPreDialChecks } from '../routing/pre-dial-webhooks';
import { handleCallEvent } from '../calls/handle-event';
import { readSession, type CallSession } from '../calls/session';
import { endDial } from './end-dial';
import { receiveAttemptStatus } from './receive-leg-status';
import { receiveCall } from './receive-call';
import { receiveCallStatus, receiveMessageStatus } from '../outreach/receive-status';
import { receiveTextMessage } from '../outreach/receive-text-message';

const seconds = (sent: string | undefined) => (sent === undefined ? undefined : Number(sent));
const hasTaken = ({ instruction }: CallSession, attempt: string) =>
  instruction.action === 'connect' && instruction.attempt === attempt.toLowerCase();

/** What carriers tell us, and what they are to do, in TwiML's words. */
export const telephony = ({ clock, config, request, pepper }: Deps) => {
  const edges = { request, pepper, clock };
  /** What the carrier is to do with the caller as its call stands now. */
  const nextTwiml = async (
    db: Db,
    reference: Reference,
    { first }: { first: boolean },
  ): Promise<Twiml> => {
    const call = await readCall(db, reference);
    const { instruction, number_called } = await readSession(db, call, { fresh: true });
    const greeting =
      first && call.offer_id !== null
        ? ((await readOfferWords(db, call.offer_id))?.greeting_message ?? null)
        : null;
    return new Twiml(
      twimlOf(instruction, {
        hooks: hooksOf(config.public_url, call),
        greeting,
        number_called: number_called ?? '',
        unanswered: first,
      }),
    );
  };

  return {
    receiveSms: async ({ body, db }) => {
      const from = await callerNumber(db, body.From, 'From');
      const to = await callerNumber(db, body.To, 'To');
      await receiveTextMessage(
        db,
        { from, to, body: body.Body ?? '', carrier: 'twilio', carrier_message_id: body.MessageSid },
        clock(),
      );
      return new Twiml(NOTHING);
    },

    receiveMessageStatus: async ({ query, body, db }) => {
      const status = messageStatusOf(body.MessageStatus);
      const error_code = body.ErrorCode ? failureCodeOf(body.ErrorCode) : undefined;
      // A word that we do not know says nothing that we could keep.
      if (status)
        await receiveMessageStatus(
          db,
          { key: query.key, carrier_message_id: body.MessageSid, status, error_code },
          clock(),
        );
      return new Twiml(NOTHING);
    },

    receiveCallStatus: async ({ query, body, db }) => {
      const status = callStatusOf(body.CallStatus);
      if (status)
        await receiveCallStatus(
          db,
          {
            key: query.key,
            carrier_call_id: body.CallSid,
            status,
            duration: seconds(body.CallDuration),
          },
          clock(),
        );
      return new Twiml(NOTHING);
    },

    receiveCall: async ({ body, db }) => {
      const brought = {
        call_sid: body.CallSid,
        from: body.From,
        to: body.To,
        caller_city: body.CallerCity,
      };
      const begun = await withPreDialChecks(db, edges, (vetoes) =>
        receiveCall(db, { ...brought, vetoes }, clock()),
      );
      return begun ? nextTwiml(db, begun.session.id, { first: true }) : new Twiml(REJECT);
    },

    receiveCallEnd: async ({ body, db }) => {
      const status = callStatusOf(body.CallStatus);
      const call =
        status && isOver(status) ? await findCall(db, 'twilio', body.CallSid) : undefined;
      // The carrier's duration is that of the whole call, also while nobody had taken it.
      if (call) await handleCallEvent(db, call.id, { event: 'completed' }, clock());
      return new Twiml(NOTHING);
    },

    receiveDialStatus: async ({ query: { call, round }, body, db }) => {
      const status = callStatusOf(body.DialCallStatus) ?? 'failed';
      const of_caller = callStatusOf(body.CallStatus ?? '');
      const caller_left = of_caller !== undefined && isOver(of_caller);
      const said = {
        leg_sid: body.DialCallSid,
        duration: seconds(body.DialCallDuration),
        recording_url: body.RecordingUrl,
      };
      const bridged = body.DialBridged === undefined ? undefined : body.DialBridged === 'true';
      await withPreDialChecks(db, edges, (vetoes) =>
        endDial(db, { call, round, status, ...said, bridged, caller_left, vetoes }, clock()),
      );
      return nextTwiml(db, call, { first: false });
    },

    receiveAttemptStatus: async ({ query: { call, attempt }, body, db }) => {
      const status = callStatusOf(body.CallStatus);
      if (status)
        await withPreDialChecks(db, edges, (vetoes) =>
          receiveAttemptStatus(
            db,
            { call, attempt, status, leg_sid: body.CallSid, vetoes },
            clock(),
          ),
        );
      return new Twiml(NOTHING);
    },

    receiveWhisper: async ({ query, db }) => {
      const session = await handleCallEvent(
        db,
        query.call,
        { event: 'answered', attempt: query.attempt },
        clock(),
      );
      if (hasTaken(session, query.attempt)) return new Twiml(NOTHING);
      const asked = ['ask_for_key', 'wait'].includes(session.instruction.action);
      return new Twiml(
        asked
          ? whisperTwiml(
              hooksOf(config.public_url, await readCall(db, query.call)).key(query.attempt),
            )
          : HANG_UP,
      );
    },

    receiveKey: async ({ query, body, db }) => {
      const key = body.Digits?.trim() || 'nothing';
      const { call, attempt } = query;
      const session = await withPreDialChecks(db, edges, (vetoes) =>
        handleCallEvent(db, call, { event: 'key_press', attempt, key, vetoes }, clock()),
      );
      return new Twiml(hasTaken(session, query.attempt) ? NOTHING : HANG_UP);
    },

    receiveVoicemail: async ({ query, body, db }) => {
      const call = await readCall(db, query.call);
      if (body.RecordingUrl) await saveRecording(db, call.id, body.RecordingUrl, clock());
      return new Twiml(HANG_UP);
    },
  } satisfies Partial<Handlers>;
};
