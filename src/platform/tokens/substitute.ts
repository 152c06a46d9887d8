/** Returns the value of a token; undefined for one without a value. */
export interface TokenSource {
  (name: string): string | undefined;
  /** True for a token that may have no value; those with a value exist in any case. */
  exists?: ((name: string) => boolean) | undefined;
}

/** A placeholder in a text: `{{name}}`, `[name]{default}` or `[name]`. */
interface Placeholder {
  start: number;
  end: number;
  name: string;
  /** Undefined for `[name]`, which is text where no such token exists. */
  fallback: string | undefined;
}

const NAME_LENGTH = 100;
const CDATA = '<![CDATA[';
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * Replaces `{{token}}`, `[token]{default}` and `[token]` by values, in one pass: values are not
 * searched for tokens. An unknown or blank token becomes its default, else nothing; `[word]` that
 * is no token stays. `escape` applies to values only: the text and its defaults are the author's.
 * Linear time.
 */
export function substitute(
  text: string,
  tokens: TokenSource,
  escape: (value: string) => string = (value) => value,
): string {
  let [result, from] = ['', 0];
  for (const { start, end, name, fallback } of listPlaceholders(text)) {
    const value = tokens(name);
    if (fallback === undefined && value === undefined && !tokens.exists?.(name)) continue;
    const content = value === undefined || value.trim() === '' ? (fallback ?? '') : escape(value);
    result += text.slice(from, start) + content;
    from = end;
  }
  return result + text.slice(from);
}

/** The names of the tokens in a text, each once, in the order of their first use. */
export function tokenNames(text: string): string[] {
  return [...new Set(listPlaceholders(text).map(({ name }) => name))];
}

/** For text and attributes of HTML. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => ENTITIES[character as keyof typeof ENTITIES]);
}

/** Characters that XML 1.0 does not have, not even as references. */
const NOT_XML = /[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/g;
const CDATA_END = ']]>';

/**
 * Replaces the tokens of XML. In a CDATA section values stay as they are; what would end it early is
 * split over two sections.
 */
export function substituteXml(text: string, tokens: TokenSource): string {
  let result = '';
  for (let from = 0; from < text.length;) {
    const start = indexOrEnd(text, CDATA, from);
    const end = indexOrEnd(text, CDATA_END, start);
    const section = substitute(text.slice(start, end), tokens, toXml);
    result +=
      substitute(text.slice(from, start), tokens, escapeXml) +
      section.replaceAll(CDATA_END, `]]${CDATA_END}${CDATA}>`);
    from = end;
  }
  return result;
}

const indexOrEnd = (text: string, part: string, from: number): number => {
  const index = text.indexOf(part, from);
  return index < 0 ? text.length : index;
};

const toXml = (value: string): string => value.replace(NOT_XML, '\u{fffd}');
const escapeXml = (value: string): string => escapeHtml(toXml(value));

/** The own properties of a record as tokens; lists and objects become JSON. */
export function ownTokens(data: Record<string, unknown>): TokenSource {
  const read = (name: string) => {
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    if (value === undefined || value === null) return undefined;
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };
  return Object.assign(read, { exists: (name: string) => Object.hasOwn(data, name) });
}

/** Replaces each token of a text by one value; each `[name]` counts as a token. */
export const fillAll = (text: string, value: string): string => substitute(text, () => value);

/**
 * Parsed by hand: a regular expression would scan a run of brackets or blanks from each character.
 */
function listPlaceholders(text: string): Placeholder[] {
  const placeholders: Placeholder[] = [];
  // Otherwise each `[name]{` would search the rest of a text that has no closing brace.
  const lastBrace = text.lastIndexOf('}');
  for (let at = 0; at < text.length;) {
    const form = readPlaceholder(text, at, lastBrace);
    if (form) placeholders.push(form);
    at = form ? form.end : Math.max(at + 1, endOfKey(text, at));
  }
  return placeholders;
}

function readPlaceholder(text: string, at: number, lastBrace: number): Placeholder | undefined {
  if (text[at] === '{') return readBraced(text, at);
  return text[at] === '[' ? readBracketed(text, at, lastBrace) : undefined;
}

function readBraced(text: string, start: number): Placeholder | undefined {
  if (text[start + 1] !== '{') return undefined;
  const from = afterBlanks(text, start + 2);
  const to = afterName(text, from);
  const close = afterBlanks(text, to);
  if (from === to || !text.startsWith('}}', close)) return undefined;
  return { start, end: close + 2, name: text.slice(from, to), fallback: '' };
}

function readBracketed(text: string, start: number, lastBrace: number): Placeholder | undefined {
  const to = afterName(text, start + 1);
  if (to === start + 1 || text[to] !== ']') return undefined;
  const name = text.slice(start + 1, to);
  if (text[to + 1] === '{') {
    if (lastBrace < to + 2) return undefined;
    const close = text.indexOf('}', to + 2);
    return { start, end: close + 1, name, fallback: text.slice(to + 2, close) };
  }
  // A number is an item of a list.
  if (/^\d+$/.test(name)) return undefined;
  if (endsWithCdata(text, start + 1) || endOfKey(text, start) > start) return undefined;
  return { start, end: to + 1, name, fallback: undefined };
}

const endsWithCdata = (text: string, end: number): boolean =>
  text.slice(Math.max(0, end - CDATA.length), end) === CDATA;

const SUBSCRIPT = /\[[\w-]*\]/y;
const AFTER_KEY = /=|"\s*:/y;

/**
 * Where the subscripts end that begin at a bracket, if they are of the key of a form or of JSON:
 * `lead[address][zip]=`. Else the index itself.
 */
function endOfKey(text: string, at: number): number {
  if (text[at] !== '[' || at === 0 || !/\w/.test(text[at - 1]!)) return at;
  let end = at;
  for (SUBSCRIPT.lastIndex = at; SUBSCRIPT.test(text);) end = SUBSCRIPT.lastIndex;
  AFTER_KEY.lastIndex = end;
  return end > at && AFTER_KEY.test(text) ? end : at;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++;
  return at;
}

/** Where a name ends. A longer one than allowed ends at its 101st character and is no name. */
function afterName(text: string, from: number): number {
  let at = from;
  while (at < from + NAME_LENGTH && isNameCharacter(text.charCodeAt(at))) at++;
  return at;
}

function isNameCharacter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 95;
}
