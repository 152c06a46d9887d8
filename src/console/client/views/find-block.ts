import type { Json } from '../transport';

/** A change is logged in the transaction that makes it. */
const SAME_WRITE_MS = 2_000;
/** Numbers are logged as they were typed, with or without the code of the country. */
const LOCAL_DIGITS = 10;
const toLocal = (number: unknown): string => String(number).replace(/\D/g, '').slice(-LOCAL_DIGITS);

/** The entry of the change log that put a number on the blacklist. */
export function findBlock(logs: readonly Json[], contact: Json): Json | undefined {
  const blockedAt = Date.parse(String(contact.blocked_at));
  return logs.find(({ operation, created_at: at, changes }) => {
    const { caller_ids: numbers } = (changes ?? {}) as { caller_ids?: { to?: unknown } };
    const isSameWrite = Math.abs(Date.parse(String(at)) - blockedAt) < SAME_WRITE_MS;
    if (operation !== 'blockContacts' || !isSameWrite) return false;
    return (
      Array.isArray(numbers?.to) && numbers.to.map(toLocal).includes(toLocal(contact.caller_id))
    );
  });
}
