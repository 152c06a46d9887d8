import { SLOT } from '../db/counters';
import { type Executor } from '../db/executor';
import { type DueKey } from './load-leads';

export interface ContactState {
  blocked: boolean;
  opt_out: boolean;
}

export const contactKey = ({
  company_id,
  caller_number,
}: {
  company_id: string;
  caller_number: string;
}): string => `${company_id}/${caller_number}`;

/**
 * The contacts of the leads, locked until the transaction ends: an opt-out or a block waits for what is being sent, and what comes after it
 * is not sent. Contacts are locked before leads, in the order of their numbers.
 */
export async function lockContacts(
  client: Executor,
  keys: readonly DueKey[],
  { now, newUuid }: { now: Date; newUuid: () => string },
): Promise<Map<string, ContactState>> {
  const distinct = [...new Map(keys.map((key) => [contactKey(key), key])).values()];
  const numbers = [
    distinct.map(({ company_id }) => company_id),
    distinct.map(({ caller_number }) => caller_number),
  ];
  await client.query({
    name: 'ensure_contacts',
    text: `WITH made AS (INSERT INTO contacts (company_id, uuid, created_at, updated_at, caller_number)
        SELECT c, u, $4::timestamptz, $4::timestamptz, n FROM unnest($1::bigint[], $2::bigint[], $3::uuid[]) AS x(c, n, u) ORDER BY c, n
        ON CONFLICT (company_id, caller_number) DO NOTHING RETURNING company_id)
      INSERT INTO record_counts (company_id, resource, slot, n) SELECT company_id, 'contacts', ${SLOT}, count(*) FROM made GROUP BY company_id ORDER BY company_id
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n`,
    values: [...numbers, distinct.map(() => newUuid()), now],
  });
  const { rows } = await client.query({
    name: 'lock_contacts',
    text: `SELECT k.company_id, k.caller_number, k.blocked, k.opt_out FROM unnest($1::bigint[], $2::bigint[]) AS x(c, n)
      JOIN contacts k ON k.company_id = x.c AND k.caller_number = x.n ORDER BY k.company_id, k.caller_number FOR UPDATE OF k`,
    values: numbers,
  });
  return new Map((rows as (ContactState & DueKey)[]).map((row) => [contactKey(row), row]));
}

/** What the company knows of one number. */
export async function readContact(
  client: Executor,
  { company_id, caller_number }: Pick<DueKey, 'company_id' | 'caller_number'>,
): Promise<ContactState> {
  const text = 'SELECT blocked, opt_out FROM contacts WHERE company_id = $1 AND caller_number = $2';
  return (
    ((await client.query({ text, values: [company_id, caller_number] })).rows[0] as
      ContactState | undefined) ?? { blocked: false, opt_out: false }
  );
}
