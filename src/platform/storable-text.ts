// Gate for text of foreign origin: answers and errors of other servers, uploaded files. Makes it
// storable for PostgreSQL in text and in JSON, and cuts it between characters.

/** Stands for what PostgreSQL cannot store. */
const REPLACEMENT = '\u{fffd}';

/** PostgreSQL stores neither U+0000 nor unpaired surrogates. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

export const toStorable = (text: string): string =>
  isStorable(text) ? text : text.replaceAll('\0', REPLACEMENT).toWellFormed();

/**
 * The beginning of a text in storable form: at most `max_length` code points. A limit in UTF-16
 * units, like that of `slice`, could cut an emoji in half.
 */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return toStorable(text);
  let end = 0;
  for (let count = 0; count < maxLength && end < text.length; count++)
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return toStorable(text.slice(0, end));
}

/** Compares code points: in UTF-16 units an emoji would count as two. */
export const isLonger = (text: string, maxLength: number): boolean =>
  text.length > maxLength && [...text].length > maxLength;

/** An escape in JSON: a pair of surrogates, what cannot be stored (captured), or another one. */
const ESCAPE =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u0000|u[dD][89a-fA-F][\da-fA-F]{2})|[^])/g;

/**
 * The value of a foreign JSON text, with storable texts in it; undefined for invalid JSON. The text
 * is repaired, not the value, whose nesting may be deeper than the stack.
 */
export function parseForeignJson(json: string): unknown {
  const text = toStorable(json).replace(ESCAPE, (escape, bad?: string) =>
    bad === undefined ? escape : REPLACEMENT,
  );
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
