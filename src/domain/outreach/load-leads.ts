import type { Sql } from '../../data/sql';
import { uuidv7 } from '../../data/uuid';
import type { DueLead, LeadKey } from './due-lead';
import {
  ADD_CONTACTS,
  LOCK_CLAIMED_LEADS,
  LOCK_CONTACTS,
  READ_CONTACT,
  READ_LEAD,
} from './queries/leads';

export interface ContactState {
  blocked: boolean;
  opt_out: boolean;
}

type ContactKey = Pick<LeadKey, 'company_id' | 'caller_number'>;

export const contactKey = ({ company_id, caller_number }: ContactKey): string =>
  `${company_id}/${caller_number}`;

/**
 * Locks the contacts of leads until the transaction ends, in the order of their numbers, and
 * returns them by `contactKey`. Contacts are locked before leads. An opt-out or a block therefore
 * waits for messages that are being sent, and no message is sent after it.
 */
export async function lockContacts(
  sql: Sql,
  keys: readonly ContactKey[],
  now: Date,
): Promise<Map<string, ContactState>> {
  const distinct = [...new Map(keys.map((key) => [contactKey(key), key])).values()];
  const companyIds = distinct.map(({ company_id }) => company_id);
  const callerNumbers = distinct.map(({ caller_number }) => caller_number);
  const uuids = distinct.map(() => uuidv7(now.getTime()));
  await sql(ADD_CONTACTS, { company_ids: companyIds, caller_numbers: callerNumbers, uuids, now });
  const contacts = await sql(LOCK_CONTACTS, {
    company_ids: companyIds,
    caller_numbers: callerNumbers,
  });
  return new Map(contacts.map((contact) => [contactKey(contact), contact]));
}

/** A contact without a lock; neither blocked nor opted out when it does not exist yet. */
export async function readContact(
  sql: Sql,
  { company_id, caller_number }: ContactKey,
): Promise<ContactState> {
  const [contact] = await sql(READ_CONTACT, { company_id, caller_number });
  return contact ?? { blocked: false, opt_out: false };
}

/** Locks the leads that are still claimed under the id, in the order of `keys`. */
export async function lockLeads(
  sql: Sql,
  claimId: string,
  keys: readonly LeadKey[],
): Promise<DueLead[]> {
  const companyIds = keys.map(({ company_id }) => company_id);
  const ids = keys.map(({ id }) => id);
  const leads = await sql(LOCK_CLAIMED_LEADS, { company_ids: companyIds, ids, claim_id: claimId });
  const indexes = new Map(keys.map(({ company_id, id }, index) => [`${company_id}/${id}`, index]));
  const findIndex = ({ company_id, id }: LeadKey) => indexes.get(`${company_id}/${id}`)!;
  return leads.toSorted((a, b) => findIndex(a) - findIndex(b));
}

export async function readLead(
  sql: Sql,
  companyId: string,
  id: string,
): Promise<DueLead | undefined> {
  return (await sql(READ_LEAD, { company_id: companyId, id }))[0];
}
