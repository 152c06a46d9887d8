/** As for `legacy_id` of the contract: later ids, which begin beyond it, stay exact numbers. */
export const MAX_ID = 1_000_000_000_000;

/** An id as the other service writes it, also as text; undefined for what no record can have. */
export function readId(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^[1-9]\d{0,12}$/.test(value);
  const id = isText ? Number(value) : value;
  return Number.isSafeInteger(id) && (id as number) >= 1 && (id as number) <= MAX_ID
    ? (id as number)
    : undefined;
}
