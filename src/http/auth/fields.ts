/** The value of a field of a query or a body, whatever those are. */
export const fieldOf = (source: unknown, name: string): unknown =>
  typeof source === 'object' && source !== null && Object.hasOwn(source, name)
    ? (source as Record<string, unknown>)[name]
    : undefined;

/** The same, removing it: the contract has no such field in the body. */
export function takeField(source: unknown, name: string): unknown {
  const value = fieldOf(source, name);
  if (value !== undefined) Reflect.deleteProperty(source as object, name);
  return value;
}
