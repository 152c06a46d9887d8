import type { Sql } from '../../data/sql';
import { sendDraft, applyStatus, type DeliveryResult } from './deliver';
import type { Channels, Draft } from './drafts';
import type { DueLead } from './due-lead';
import {
  CALL_IDS_OF_NUMBER,
  MESSAGE_IDS_OF_NUMBER,
  READ_CALL,
  READ_EMAIL,
  READ_TEXT_MESSAGE,
} from './queries/deliveries';
import { recordIntent } from './record-steps';

export interface Delivering {
  /** The transaction that locks the lead. */
  sql: Sql;
  /** A connection outside the transaction: its writes remain when the transaction fails. */
  outside: Sql;
  channels: Channels;
  now: Date;
}

/**
 * Sends a draft to an external carrier or mailer at most once, even when processes fail in between.
 * The intent is committed first. When an earlier try has left an intent, the carrier is asked for
 * the result of the request as it was recorded then. A mailer cannot be asked, so that the e-mail
 * is not sent again.
 */
export async function resumeDelivery(
  lead: DueLead,
  draft: Draft,
  { sql, outside, channels, now }: Delivering,
): Promise<DeliveryResult> {
  const { company_id } = draft.row;
  const earlier = await readEarlier(sql, draft);
  const certainlyNotSent =
    !earlier || (earlier.status === 'sending' && earlier.error_code !== null);
  if (certainlyNotSent) {
    await recordIntent(outside, draft.table, draft.row, now);
    return sendDraft(draft, {}, channels);
  }
  const { created_at: triedAt, status, error_code, ...content } = earlier;
  const recorded = { ...draft, row: { ...draft.row, ...content } } as Draft;
  // The carrier reported a status before the process that sent the request could record it.
  if (status !== 'sending')
    return {
      draft: applyStatus(recorded, status, { code: error_code, message: null }),
      ok: status !== 'failed',
      retryable: false,
    };
  if (draft.table === 'emails') {
    const message =
      'the process ended while the e-mail was being handed over; it is not sent again';
    return {
      draft: applyStatus(recorded, 'unknown', { code: 'unknown', message }),
      ok: false,
      retryable: false,
    };
  }
  const idsOfNumber = draft.table === 'calls' ? CALL_IDS_OF_NUMBER : MESSAGE_IDS_OF_NUMBER;
  const otherRequests = await sql(idsOfNumber, { company_id, caller_number: lead.caller_number });
  return sendDraft(
    recorded,
    { tried_at: triedAt, excludedIds: otherRequests.map(({ carrier_id }) => carrier_id) },
    channels,
  );
}

/** The row that an earlier try of the same step recorded, with its content at that time. */
async function readEarlier(sql: Sql, { table, row: { company_id, uuid } }: Draft) {
  const key = { company_id, uuid };
  switch (table) {
    case 'text_messages':
      return (await sql(READ_TEXT_MESSAGE, key))[0];
    case 'calls':
      return (await sql(READ_CALL, key))[0];
    case 'emails':
      return (await sql(READ_EMAIL, key))[0];
  }
}
