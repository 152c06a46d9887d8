/**
 * A ZIP code as lists have it: five digits. Of a ZIP+4 its ZIP code; zeros that a spreadsheet took
 * off are put back. Undefined for anything else.
 */
export function zipOf(text: string): string | undefined {
  const [, zip, whole] = /^(?:(\d{3,5})(?:-\d{4})?|(\d{5})\d{4})$/.exec(text.trim()) ?? [];
  return zip?.padStart(5, '0') ?? whole;
}
