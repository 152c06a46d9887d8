// Templates of webhooks as the editor previews them. The service itself replaces the tokens of an
// event; here those of the newest call stand in.

export type Tokens = Readonly<Record<string, string>>;

/** `{{name}}`, `[name]` or `[name]{what stands in}`. */
const TOKEN = /\{\{\s*(\w+)\s*\}\}|\[(\w+)\](?:\{([^}]*)\})?/g;

/** The template with the tokens of an example; a `[word]` that is no token stays. */
export const fillTemplate = (template: string, tokens: Tokens): string =>
  template.replace(TOKEN, (written, braced, bracketed, fallback: string | undefined) => {
    const name = String(braced ?? bracketed);
    const value = tokens[name];
    if (value !== undefined && value !== '') return value;
    if (fallback !== undefined) return fallback;
    return braced === undefined ? written : '';
  });

/** The names of the tokens in a template, each once. */
export const listTokens = (template: string): string[] => [
  ...new Set([...template.matchAll(TOKEN)].map(([, braced, bracketed]) => (braced ?? bracketed)!)),
];

/** A body that looks like JSON and is none would be refused by most receivers. */
export function findJsonFault(body: string): string | undefined {
  if (!/^\s*[{[]/.test(body)) return undefined;
  try {
    JSON.parse(body);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Facts of a call that templates may name, besides the tokens that it came with. */
const FACTS = ['caller_number', 'number_called', 'sub_id', 'total_duration', 'revenue', 'payout'];

/** The tokens of a call, as texts. */
export function toTokens(call: Readonly<Record<string, unknown>>): Tokens {
  const facts = FACTS.map((name): [string, unknown] => [name, call[name]]);
  const own = Object.entries((call.token_values ?? {}) as Record<string, unknown>);
  const entries: [string, unknown][] = [
    ...facts,
    ['caller_id', call.caller_number],
    ['call_uuid', call.uuid],
    ...own,
  ];
  return Object.fromEntries(
    entries.flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, String(value)]],
    ),
  );
}
