import type { Db } from '../db/tenant';
import { chooseNumber } from './choose-number';
import { executorOf } from '../db/executor';
import { loadNumbers } from './own-numbers';

interface Numbered {
  id: bigint;
  caller_number: number;
  offer_id: bigint | null;
}

/** Gives a lead the number, answered as digits, from which it is called or texted, unless it has one. Null when the company owns none that may be used. */
export async function assignNumber(
  db: Db,
  lead: Numbered,
  column: 'dial_number_id' | 'sms_number_id',
  now: Date,
): Promise<string | null> {
  const [row] = await db.query<{ known: string | null }>({
    text: `SELECT ${column}::text AS known FROM leads WHERE company_id = $1 AND id = $2 FOR UPDATE`,
    values: [db.company_id, lead.id],
  });
  const company_id = String(db.company_id);
  const numbers = (await loadNumbers(executorOf(db), [company_id])).get(company_id)!;
  const asked = {
    caller_number: String(lead.caller_number),
    offer_id: lead.offer_id === null ? null : String(lead.offer_id),
  };
  const number = chooseNumber(numbers, asked, row?.known ?? null);
  if (number && number.id !== row?.known) {
    await db.query({
      text: `WITH given AS (UPDATE numbers SET last_assigned_at = $4::timestamptz WHERE company_id = $1 AND id = $3::bigint)
        UPDATE leads SET ${column} = $3::bigint WHERE company_id = $1 AND id = $2`,
      values: [db.company_id, lead.id, number.id, now.toISOString()],
    });
  }
  return number?.number ?? null;
}
