import type { DueLead, Executor } from '../db/due-leads';
import { withStatus, type Draft, type Earlier, type Sent } from './contact';

/** SQL of what carriers have made of other requests to the number of the lead. */
const TAKEN = {
  text_messages: `SELECT m.carrier_message_id AS id FROM leads l JOIN text_messages m ON m.company_id = l.company_id AND m.lead_id = l.id
    WHERE l.company_id = $1 AND l.caller_number = $2 AND m.carrier_message_id IS NOT NULL AND m.direction = 'outbound'`,
  calls: `SELECT c.carrier_call_id AS id FROM leads l JOIN calls c ON c.company_id = l.company_id AND c.lead_id = l.id
    WHERE l.company_id = $1 AND l.caller_number = $2 AND c.carrier_call_id IS NOT NULL AND c.direction = 'outbound'`,
};

interface Row {
  created_at: Date;
  status: string;
  error_code: string | null;
}

/**
 * What is known of earlier tries of a draft, by the row in which it was written down: undefined when it was not, and must be before it is sent;
 * `sent` when nothing is to be sent any more.
 */
export async function earlierTries(client: Executor, lead: DueLead, draft: Draft): Promise<Earlier | { sent: Sent } | undefined> {
  const { company_id, uuid } = draft.row;
  const text = `SELECT created_at, status, error_code FROM ${draft.table} WHERE company_id = $1 AND uuid = $2::uuid`;
  const [row] = (await client.query({ text, values: [company_id, uuid] })).rows as Row[];
  if (!row) return undefined;
  // The carrier has told of it before whoever sent it could record that.
  if (row.status !== 'sending')
    return { sent: { draft: withStatus(draft, row.status, { code: row.error_code, message: null }), ok: row.status !== 'failed', retryable: false } };
  if (row.error_code !== null) return {};
  if (draft.table === 'emails') {
    const message = 'the process ended while it was handed over; it is not sent again';
    return { sent: { draft: withStatus(draft, 'unknown', { code: 'unknown', message }), ok: false, retryable: false } };
  }
  const { rows } = await client.query({ text: TAKEN[draft.table], values: [company_id, lead.caller_number] });
  return { tried_at: row.created_at, taken: (rows as { id: string }[]).map(({ id }) => id) };
}
