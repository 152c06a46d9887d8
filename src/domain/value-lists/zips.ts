/**
 * A ZIP code as lists contain it: five digits. A ZIP+4 is shortened; leading zeros that a
 * spreadsheet removed are restored. Undefined for anything else.
 */
export function parseZip(text: string): string | undefined {
  const [, zip, whole] = /^(?:(\d{3,5})(?:-\d{4})?|(\d{5})\d{4})$/.exec(text.trim()) ?? [];
  return zip?.padStart(5, '0') ?? whole;
}
