import { HttpProblem } from '../errors';

/** What a stream has been read up to. */
export interface Position {
  /** Names the server whose transactions it counts. */
  server: string;
  /** Everything that transactions before this one have written was read. */
  horizon: bigint;
  /** Events of calls and logs of leads that were not read have higher ids. */
  calls_after: bigint;
  leads_after: bigint;
}

/** Part of the way from one position to the next: some events of a kind, by their ids. */
export interface PartWay {
  /** The horizon of the next position. */
  to: bigint;
  /** The place of the kind in KINDS. */
  kind: number;
  /** The last event that was sent. */
  id: bigint;
}

/** The id of an event: from where a stream resumes after it. */
export interface EventId {
  position: Position;
  part: PartWay | undefined;
  /** When it was sent, in minutes. */
  minute: number;
}

const MINUTE_MS = 60_000;
export const minuteOf = (at: Date): number => Math.floor(at.getTime() / MINUTE_MS);

export function writeEventId({ position, part, minute }: EventId): string {
  const { server, horizon, calls_after, leads_after } = position;
  const numbers = [BigInt(minute), horizon, calls_after, leads_after];
  if (part) numbers.push(part.to, BigInt(part.kind), part.id);
  return [server, ...numbers.map((n) => n.toString(36))].join('.');
}

const ID = /^[0-9a-f]{8}(?:\.[0-9a-z]{1,12}){4}(?:(?:\.[0-9a-z]{1,12}){3})?$/;

/** Throws a 422 problem on the field for what is not the id of an event. */
export function readEventId(text: string, field: string): EventId {
  if (!ID.test(text))
    throw HttpProblem.field(field, 'invalid_value', 'must be the id of an event of this stream');
  const [server, ...rest] = text.split('.');
  const [minute, horizon, calls_after, leads_after, to, kind, id] = rest.map(readNumber);
  return {
    position: {
      server: server!,
      horizon: horizon!,
      calls_after: calls_after!,
      leads_after: leads_after!,
    },
    part: to === undefined ? undefined : { to, kind: Number(kind), id: id! },
    minute: Number(minute),
  };
}

/** At most 12 digits: less than 2 to the power of 63. */
const readNumber = (digits: string): bigint =>
  [...digits].reduce((n, digit) => n * 36n + BigInt(parseInt(digit, 36)), 0n);
