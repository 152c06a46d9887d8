/** A blank value of a field that has a default puts the default back. */
export function withDefaults<Fields extends object>(
  fields: Fields,
  defaults: Partial<Fields>,
): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value === null && name in defaults ? defaults[name as keyof Fields] : (value as unknown),
    ]),
  ) as Fields;
}
