/** Limit of `legacy_id` in the contract: later ids, which begin after it, stay exact numbers. */
export const MAX_ID = 1_000_000_000_000;

/** Reads an id of the other service, also as text; undefined for an impossible one. */
export function readId(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^[1-9]\d{0,12}$/.test(value);
  const id = isText ? Number(value) : value;
  return Number.isSafeInteger(id) && (id as number) >= 1 && (id as number) <= MAX_ID
    ? (id as number)
    : undefined;
}
