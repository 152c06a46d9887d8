/** The names that a lead token may be sent under. */
export const LEAD_TOKEN_NAMES = ['lead_token', 'schedule_lead_token', 'offer_lead_token'] as const;

/** Fields that are credentials wherever they are sent. */
export const CREDENTIAL_NAMES: readonly string[] = [...LEAD_TOKEN_NAMES, 'auth_token'];

/** A field of a query or body of any type; undefined where it has no such field. */
export const readField = (source: unknown, name: string): unknown =>
  typeof source === 'object' && source !== null && Object.hasOwn(source, name)
    ? (source as Record<string, unknown>)[name]
    : undefined;

/** Like `readField`, but removes the field: the contract has none of that name in the body. */
export function takeField(source: unknown, name: string): unknown {
  const value = readField(source, name);
  if (value !== undefined) Reflect.deleteProperty(source as object, name);
  return value;
}
