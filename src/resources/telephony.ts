import { callStatusOf, failureCodeOf, messageStatusOf } from '../carriers/twilio-words';
import { callerNumber } from '../db/caller-ids';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { Twiml } from '../http/reply';
import { receiveCallStatus, receiveMessageStatus } from '../workflows/receive-status';
import { receiveTextMessage } from '../workflows/receive-text-message';

const NOTHING = new Twiml('<?xml version="1.0" encoding="UTF-8"?><Response/>');

/** What carriers tell us, in TwiML's words. */
export const telephony = ({ clock }: Deps) =>
  ({
    receiveSms: async ({ body, db }) => {
      const from = await callerNumber(db, body.From, 'From');
      const to = await callerNumber(db, body.To, 'To');
      await receiveTextMessage(db, { from, to, body: body.Body ?? '', carrier: 'twilio', carrier_message_id: body.MessageSid }, clock());
      return NOTHING;
    },

    receiveMessageStatus: async ({ query, body, db }) => {
      const status = messageStatusOf(body.MessageStatus);
      const error_code = body.ErrorCode ? failureCodeOf(body.ErrorCode) : undefined;
      // A word that we do not know says nothing that we could keep.
      if (status) await receiveMessageStatus(db, { key: query.key, carrier_message_id: body.MessageSid, status, error_code }, clock());
      return NOTHING;
    },

    receiveCallStatus: async ({ query, body, db }) => {
      const status = callStatusOf(body.CallStatus);
      const duration = body.CallDuration === undefined ? undefined : Number(body.CallDuration);
      if (status) await receiveCallStatus(db, { key: query.key, carrier_call_id: body.CallSid, status, duration }, clock());
      return NOTHING;
    },
  }) satisfies Partial<Handlers>;
