import type { FieldErrors } from '../../platform/errors';
import { cutText } from '../../platform/storable-text';
import { LIMITS, buildTokens, type Data } from '../../platform/tokens/lead-data';

/** Twice the size that one request may send, as for leads. */
const MAX_TOKEN_BYTES = 2 * LIMITS.bytes;

const countBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
/** Bytes that a token adds to a JSON object: its name, its value, a colon and a comma. */
const countTokenBytes = (tokens: Data, name: string): number =>
  Object.hasOwn(tokens, name) ? countBytes(name) + countBytes(tokens[name]) + 2 : 0;

export const isTooLarge = (tokens: Data): boolean => countBytes(tokens) > MAX_TOKEN_BYTES;

/**
 * Turns keys that are no fields into tokens, for a call that has `storedTokens`. `sentTokens` are
 * written with them and win. A token without room is left out with a warning: a postback is not
 * lost. Sizes are summed up, so that many keys take no longer than the same bytes in a few.
 */
export function readLooseTokens(
  loose: Data,
  { storedTokens, sentTokens }: { storedTokens: Data; sentTokens: Data },
): { tokens: Data; warnings: FieldErrors } {
  const warnings: FieldErrors = {};
  const tokens: Data = Object.create(null) as Data;
  let used = { count: 0, bytes: 1, all_bytes: countBytes({ ...storedTokens, ...sentTokens }) };
  for (const [key, value] of Object.entries(loose)) {
    const { tokens: parsed, faults } = buildTokens({}, { [key]: value });
    const [name = ''] = Object.keys(parsed);
    const size = faults.length === 0 ? countTokenBytes(parsed, name) : 0;
    const before = name in tokens ? tokens : storedTokens;
    const next = {
      count: used.count + Number(!(name in tokens)),
      bytes: used.bytes + size - countTokenBytes(tokens, name),
      all_bytes:
        used.all_bytes +
        (Object.hasOwn(sentTokens, name) ? 0 : size - countTokenBytes(before, name)),
    };
    const why = faults[0]?.message ?? describeOverflow(next);
    if (why) warnings[cutText(key, 100) || 'data'] = [`is left out: ${why}`];
    else [tokens[name], used] = [value, next];
  }
  return { tokens, warnings };
}

function describeOverflow(used: {
  count: number;
  bytes: number;
  all_bytes: number;
}): string | undefined {
  if (used.count > LIMITS.tokens) return `must have at most ${LIMITS.tokens} tokens`;
  if (used.bytes > LIMITS.bytes) return `must be at most ${LIMITS.bytes} bytes as JSON`;
  return used.all_bytes > MAX_TOKEN_BYTES
    ? 'must leave room for the tokens that the call has already'
    : undefined;
}
