import type { RequestOutcome } from '../../platform/egress/guarded-request';
import { isPath, extractValue } from '../../platform/egress/response-values';
import { isCallDestination } from '../../api/request/formats';
import { cutText, parseForeignJson } from '../../platform/storable-text';
import type { CandidateBid } from './engine/candidate';

/** Paths (or patterns) of the values in the answers of a bidder. */
export interface BidPaths {
  accept?: string;
  bid?: string;
  number?: string;
  duration?: string;
  expires_in?: string;
}

export type ReadBid =
  | { outcome: 'bid'; bid: CandidateBid }
  | { outcome: 'declined' }
  | { outcome: 'failed'; fault: string; code: number | null };

/** Dollars. A higher bid is probably in cents. */
const MAX_BID = 10_000;
/** Seconds. */
const MAX_DURATION = 86_400;
const EXPIRES_IN = { usual: 60, most: 3_600 };

const NO_CONTENT = 204;
const DECLINING = new Set([
  ...['', 'false', '0', 'no', 'n', 'reject', 'rejected', 'decline', 'declined', 'denied'],
]);

/** A value that is present but invalid. */
class WrongAnswer extends Error {}

/** Parses the answer of a bidder. Pure. */
export function readBid(answered: RequestOutcome, paths: BidPaths, now: Date): ReadBid {
  if (!answered.ok) return { outcome: 'failed', fault: answered.reason, code: null };
  const { code, body } = answered;
  if (code === NO_CONTENT) return { outcome: 'declined' };
  const failed = (fault: string) => ({ outcome: 'failed', fault, code }) as const;
  if (code < 200 || code >= 300) return failed(`answered ${code}`);
  const facts = { accept: 'accept', bid: 'bid', ...DEFAULT_PATHS, ...paths };
  const needsJson = Object.values(facts).some(isPath);
  const json = needsJson ? parseForeignJson(body) : undefined;
  // Default paths are optional: an answer of plain text has none of them.
  if (needsJson && json === undefined && Object.values(paths).some(isPath))
    return failed('the answer is not JSON of at most 20 kB');
  const read = (fact: keyof BidPaths) => extractValue(facts[fact], { json, text: body });
  try {
    return parseBid(read, { is_acceptance_named: paths.accept !== undefined, now });
  } catch (error) {
    if (error instanceof WrongAnswer) return failed(error.message);
    throw error;
  }
}

const DEFAULT_PATHS = { number: 'number', duration: 'duration', expires_in: 'expires_in' };

function parseBid(
  read: (fact: keyof BidPaths) => unknown,
  { is_acceptance_named, now }: { is_acceptance_named: boolean; now: Date },
): ReadBid {
  const accept = read('accept');
  if (accept === undefined ? is_acceptance_named : isDeclining(accept))
    return { outcome: 'declined' };
  const dollars = read('bid');
  if (dollars === undefined) throw new WrongAnswer('the answer has no bid');
  const lasts = parseNumber(read('expires_in') ?? EXPIRES_IN.usual, 'expires_in', {
    least: 1,
    most: Infinity,
  });
  const expiresIn = Math.min(lasts, EXPIRES_IN.most);
  return {
    outcome: 'bid',
    bid: {
      amount: wholeCents(parseNumber(dollars, 'the bid', { least: 0, most: MAX_BID })),
      number: parseDestination(read('number')),
      duration: Math.ceil(
        parseNumber(read('duration') ?? 0, 'the duration', { least: 0, most: MAX_DURATION }),
      ),
      expires_at: new Date(now.getTime() + expiresIn * 1000),
    },
  };
}

const toText = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

const isDeclining = (accept: unknown): boolean =>
  DECLINING.has(toText(accept).trim().toLowerCase());

const NUMBER = /^\$?\s?(\d{1,12}(?:\.\d{1,12})?|\.\d{1,12})$/;

function parseNumber(
  value: unknown,
  name: string,
  { least, most }: { least: number; most: number },
): number {
  const text = toText(value).trim();
  const number = typeof value === 'number' ? value : Number(NUMBER.exec(text)?.[1] ?? NaN);
  if (number >= least && number <= most) return number;
  throw new WrongAnswer(
    `${name} is not a number from ${least} to ${most}: ${cutText(text, MAX_SHOWN)}`,
  );
}

const MAX_SHOWN = 100;

/** Rounded down to the cent; 19.99 times 100 is a little less than 1999. */
const wholeCents = (dollars: number): number =>
  Math.floor(Number((dollars * 100).toFixed(6))) / 100;

function parseDestination(value: unknown): string | null {
  if (value === undefined) return null;
  const text = toText(value).trim();
  if (text === '') return null;
  const number = /^[1-9]\d{6,14}$/.test(text) ? `+${text}` : text;
  if (isCallDestination(number)) return number;
  throw new WrongAnswer(
    `the number is neither + and digits nor a SIP address: ${cutText(text, MAX_SHOWN)}`,
  );
}
