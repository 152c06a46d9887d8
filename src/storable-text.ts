// The gate for text that others wrote: answers of other servers, their errors, uploaded files. It
// makes of it what PostgreSQL can store in text and in JSON, and cuts it between characters.

/** Stands for what PostgreSQL cannot store. */
const REPLACEMENT = '\u{fffd}';

/** Whether PostgreSQL can store a text: it has neither U+0000 nor unpaired surrogates. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** The text, with replacement characters for what PostgreSQL cannot store. */
export const toStorable = (text: string): string =>
  isStorable(text) ? text : text.replaceAll('\0', REPLACEMENT).toWellFormed();

/**
 * The beginning of a text, as PostgreSQL can store it: at most so many code points. A limit in
 * UTF-16 units, as that of `slice`, could leave half of an emoji.
 */
export function cutText(text: string, max_length: number): string {
  if (text.length <= max_length) return toStorable(text);
  let end = 0;
  for (let count = 0; count < max_length && end < text.length; count++)
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return toStorable(text.slice(0, end));
}

/** Whether a text has more code points than that; in UTF-16 units, an emoji would count as two. */
export const isLonger = (text: string, max_length: number): boolean =>
  text.length > max_length && [...text].length > max_length;

/** An escape in JSON: a pair of surrogates, what cannot be stored (captured), or another one. */
const ESCAPE =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u0000|u[dD][89a-fA-F][\da-fA-F]{2})|[^])/g;

/**
 * The value of a JSON text that others wrote, with storable texts in it; undefined for what is not
 * JSON. The text is repaired, not the value, whose nesting may be deeper than the stack.
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
