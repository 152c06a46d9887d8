import { createHmac, timingSafeEqual } from 'node:crypto';
import { HttpProblem } from '../../platform/errors';

/** The position up to which a stream was read. */
export interface Position {
  /** Names the server whose transactions it counts. */
  server: string;
  /** Everything that transactions before this one have written was read. */
  horizon: bigint;
  /** Events of calls and logs of leads that were not read have higher ids. */
  calls_after: bigint;
  leads_after: bigint;
}

/** Progress from one position to the next: the events of a kind that were sent, by their ids. */
export interface WindowProgress {
  /** The horizon of the next position. */
  to: bigint;
  /** The index of the kind in KINDS. */
  kind: number;
  /** The last event that was sent. */
  id: bigint;
}

/** The id of an event: from where a stream resumes after it. */
export interface EventId {
  position: Position;
  part: WindowProgress | undefined;
  /** When it was sent, in minutes. */
  minute: number;
}

const MINUTE_MS = 60_000;
export const toMinute = (at: Date): number => Math.floor(at.getTime() / MINUTE_MS);

/** The id as text, signed: how old it is decides how much may be read after it. */
export function writeEventId({ position, part, minute }: EventId, pepper: string): string {
  const { server, horizon, calls_after, leads_after } = position;
  const numbers = [BigInt(minute), horizon, calls_after, leads_after];
  if (part) numbers.push(part.to, BigInt(part.kind), part.id);
  const signed = [server, ...numbers.map((n) => n.toString(36))].join('.');
  return `${signed}.${signText(signed, pepper)}`;
}

const SIGNATURE_BYTES = 8;
const signText = (signed: string, pepper: string): string =>
  createHmac('sha256', pepper)
    .update(`event_id/${signed}`)
    .digest()
    .toString('hex', 0, SIGNATURE_BYTES);

/** Ids of earlier releases have no signature. */
const ID =
  /^([0-9a-f]{8}(?:\.[0-9a-z]{1,12}){4}(?:(?:\.[0-9a-z]{1,12}){3})?)(?:\.([0-9a-f]{16}))?$/;

/**
 * Throws 422 on the field for a text that is not the id of an event. An id without a signature
 * counts as the oldest.
 */
export function readEventId(text: string, field: string, pepper: string): EventId {
  const [, signed, signature] = ID.exec(text) ?? [];
  if (!signed || (signature !== undefined && !isSignedBy(pepper, signed, signature)))
    throw HttpProblem.field(field, 'invalid_value', 'must be the id of an event of this stream');
  const [server, ...rest] = signed.split('.');
  const [minute, horizon, callsAfter, leadsAfter, to, kind, id] = rest.map(readNumber);
  return {
    position: {
      server: server!,
      horizon: horizon!,
      calls_after: callsAfter!,
      leads_after: leadsAfter!,
    },
    part: to === undefined ? undefined : { to, kind: Number(kind), id: id! },
    minute: signature === undefined ? 0 : Number(minute),
  };
}

const isSignedBy = (pepper: string, signed: string, signature: string): boolean =>
  timingSafeEqual(Buffer.from(signText(signed, pepper)), Buffer.from(signature));

/** At most 12 digits: less than 2 to the power of 63. */
const readNumber = (digits: string): bigint =>
  [...digits].reduce((n, digit) => n * 36n + BigInt(parseInt(digit, 36)), 0n);
