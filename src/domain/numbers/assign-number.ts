import type { Db } from '../../data/db';
import { chooseNumber } from './choose-number';
import { loadNumbers } from './own-numbers';
import { ASSIGN_DIAL_NUMBER, ASSIGN_SMS_NUMBER, LOCK_NUMBERS_OF_LEAD } from './queries/leads';

interface Lead {
  id: bigint;
  caller_number: number;
  offer_id: bigint | null;
}

/**
 * Locks a lead and assigns the number from which it is called or texted, unless it has one. Returns
 * the number's E.164 digits; null when the company owns no number that may be used.
 */
export async function assignNumber(
  db: Db,
  { id: leadId, caller_number, offer_id }: Lead,
  column: 'dial_number_id' | 'sms_number_id',
  now: Date,
): Promise<string | null> {
  const [lead] = await db.sql(LOCK_NUMBERS_OF_LEAD, { lead_id: leadId });
  const knownId = lead?.[column] ?? null;
  const companyId = String(db.company_id);
  const numbers = (await loadNumbers(db.sql, [companyId])).get(companyId)!;
  const contacted = {
    caller_number: String(caller_number),
    offer_id: offer_id === null ? null : String(offer_id),
  };
  const number = chooseNumber(numbers, contacted, knownId);
  if (number && number.id !== knownId) {
    const assign = column === 'dial_number_id' ? ASSIGN_DIAL_NUMBER : ASSIGN_SMS_NUMBER;
    await db.sql(assign, { lead_id: leadId, number_id: number.id, now });
  }
  return number?.number ?? null;
}
