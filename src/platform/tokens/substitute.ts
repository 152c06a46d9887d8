/** Returns the value of a token, undefined for an unknown one. */
export type TokenSource = (name: string) => string | undefined;

/** A placeholder in a text: `{{name}}` or `[name]{default}`. */
interface Placeholder {
  start: number;
  end: number;
  name: string;
  fallback: string;
}

const NAME_LENGTH = 100;
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * Replaces `{{token}}` and `[token]{default}` by values, in one pass: values are not searched for
 * tokens. An unknown or blank token becomes its default, else nothing. `escape` applies to values
 * only: the text and its defaults are the author's. Linear time.
 */
export function substitute(
  text: string,
  tokens: TokenSource,
  escape: (value: string) => string = (value) => value,
): string {
  let [result, from] = ['', 0];
  for (const { start, end, name, fallback } of listPlaceholders(text)) {
    const value = tokens(name) ?? '';
    result += text.slice(from, start) + (value.trim() === '' ? fallback : escape(value));
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

/** The own properties of a record as tokens; lists and objects become JSON. */
export function ownTokens(data: Record<string, unknown>): TokenSource {
  return (name) => {
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    if (value === undefined || value === null) return undefined;
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };
}

/**
 * Parsed by hand: a regular expression would scan a run of brackets or blanks from each character.
 */
function listPlaceholders(text: string): Placeholder[] {
  const placeholders: Placeholder[] = [];
  // Otherwise each `[name]{` would search the rest of a text that has no closing brace.
  const lastBrace = text.lastIndexOf('}');
  for (let at = 0; at < lastBrace;) {
    const form = readPlaceholder(text, at, lastBrace);
    if (form) placeholders.push(form);
    at = form ? form.end : at + 1;
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
  if (to === start + 1 || lastBrace < to + 2 || !text.startsWith(']{', to)) return undefined;
  const close = text.indexOf('}', to + 2);
  return {
    start,
    end: close + 1,
    name: text.slice(start + 1, to),
    fallback: text.slice(to + 2, close),
  };
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
