import { HttpProblem } from '../../platform/errors';
import { eventStreams } from '../../platform/telemetry/metrics';

// An event stream holds a connection for hours. A reader, and all readers of a company, have only
// so many at a time in a process, so that others find a connection.

/** Enough for several windows, and for streams that broke without the server's knowing yet. */
const MAX_PER_READER = 5;

interface StreamRequest {
  company_id: bigint;
  /** The owner of the counted streams: an agent, a switch, or credentials. */
  reader: { kind: 'agent' | 'access_token' | 'switch'; id: bigint };
}

/**
 * Takes a slot for a stream, and returns the function that releases it. Throws 429 if none is left.
 */
export type TakeStreamSlot = (stream: StreamRequest) => () => void;

const READERS = {
  agent: 'This agent has',
  access_token: 'These credentials have',
  switch: 'This switch has',
};

/** The slots of a process. A company has a quarter of all connections. */
export function createStreamSlots(maxConnections: number): TakeStreamSlot {
  const maxOfCompany = Math.ceil(maxConnections / 4);
  /** Counts by company, and by `<company>/<kind>/<id>`. */
  const openStreams = new Map<string, number>();
  const add = (key: string, n: 1 | -1) => {
    const sum = (openStreams.get(key) ?? 0) + n;
    if (sum > 0) openStreams.set(key, sum);
    else openStreams.delete(key);
  };
  return ({ company_id, reader: { kind, id } }) => {
    const company = String(company_id);
    const reader = `${company}/${kind}/${id}`;
    if ((openStreams.get(reader) ?? 0) >= MAX_PER_READER)
      throw tooMany(`${READERS[kind]} ${MAX_PER_READER} event streams open already.`);
    if ((openStreams.get(company) ?? 0) >= maxOfCompany)
      throw tooMany(`Your company has ${maxOfCompany} event streams open already.`);
    for (const key of [company, reader]) add(key, 1);
    eventStreams.inc();
    return () => {
      for (const key of [company, reader]) add(key, -1);
      eventStreams.dec();
    };
  };
}

const tooMany = (what: string): HttpProblem =>
  new HttpProblem('too_many_at_once', `${what} Close one of them first.`, {
    headers: { 'Retry-After': '10' },
  });
