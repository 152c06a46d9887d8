export type FormCharset = 'utf-8' | 'iso-8859-1';

/** The characters of the bytes 0x80 to 0x9f: to browsers, ISO 8859-1 is Windows-1252. */
const WINDOWS =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/**
 * Decodes the escapes of a form or a query string. A percent sign that begins no escape stays, and
 * escapes that are not UTF-8 are those of a page in Latin-1: one of them spoils no others.
 */
export function decodeEscapes(text: string, charset: FormCharset): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  if (charset === 'iso-8859-1') return decodeLatin(spaced);
  return (
    decodeUtf8(spaced) ?? spaced.replace(CHARACTERS, (run) => decodeUtf8(run) ?? decodeLatin(run))
  );
}

/** Escapes of one character each, if they are UTF-8. */
const CHARACTERS =
  /%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-4](?:%[89ab][0-9a-f]){3}|%[0-9a-f]{2}/gi;

function decodeUtf8(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const decodeLatin = (escapes: string): string =>
  escapes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => {
    const byte = parseInt(hex, 16);
    return WINDOWS[byte - 0x80] ?? String.fromCharCode(byte);
  });
