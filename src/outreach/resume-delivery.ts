import type { DueLead } from './load-leads';
import { recordIntent } from './record-steps';
import { send, withStatus, type Draft, type Edges, type Sent } from './deliver';
import { type Executor } from '../db/executor';

/** SQL of what carriers have made of other requests to the number. */
const TAKEN = {
  text_messages: `SELECT m.carrier_message_id AS id FROM leads l JOIN text_messages m ON m.company_id = l.company_id AND m.lead_id = l.id
    WHERE l.company_id = $1 AND l.caller_number = $2 AND m.carrier_message_id IS NOT NULL AND m.direction = 'outbound'`,
  calls: `SELECT c.carrier_call_id AS id FROM calls c WHERE c.company_id = $1 AND c.caller_number = $2 AND c.carrier_call_id IS NOT NULL AND c.direction = 'outbound'`,
};

/** What a try is: whoever looks for what became of it asks for just this. */
const CONTENT = {
  text_messages: ['from_number', 'to_number', 'body'],
  calls: ['from_number', 'to_number', 'connect_to'],
  emails: ['from_email', 'to_email', 'subject', 'body', 'html'],
};

interface Row {
  created_at: Date;
  status: string;
  error_code: string | null;
}

export interface HandingOver {
  /** The transaction that holds the lead. */
  client: Executor;
  /** Another connection: what is written there stays, whatever becomes of the transaction. */
  aside: Executor;
  edges: Edges;
  now: Date;
}

/**
 * Hands a draft over to a carrier or a mailer outside, at most once however often processes end in the middle: it is written down first, so that
 * the next one knows. A carrier is then asked what it made of the earlier try, as that was written; an e-mail cannot be asked after.
 */
export async function resumeDelivery(
  lead: DueLead,
  draft: Draft,
  { client, aside, edges, now }: HandingOver,
): Promise<Sent> {
  const { company_id, uuid } = draft.row;
  const text = `SELECT created_at, status, error_code, ${CONTENT[draft.table].join(', ')} FROM ${draft.table} WHERE company_id = $1 AND uuid = $2::uuid`;
  const [row] = (await client.query({ text, values: [company_id, uuid] })).rows as Row[];
  // Nobody has tried, or it is certain that no try got through.
  if (!row || (row.status === 'sending' && row.error_code !== null)) {
    await recordIntent(aside, draft.table, draft.row, now);
    return send(draft, {}, edges);
  }
  const { created_at: tried_at, status, error_code, ...content } = row;
  const written = { ...draft, row: { ...draft.row, ...content } } as Draft;
  // The carrier has told of it before whoever sent it could record that.
  if (status !== 'sending')
    return {
      draft: withStatus(written, status, { code: error_code, message: null }),
      ok: status !== 'failed',
      retryable: false,
    };
  if (draft.table === 'emails') {
    const message = 'the process ended while it was handed over; it is not sent again';
    return {
      draft: withStatus(written, 'unknown', { code: 'unknown', message }),
      ok: false,
      retryable: false,
    };
  }
  const { rows } = await client.query({
    text: TAKEN[draft.table],
    values: [company_id, lead.caller_number],
  });
  return send(written, { tried_at, taken: (rows as { id: string }[]).map(({ id }) => id) }, edges);
}
