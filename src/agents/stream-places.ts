import { HttpProblem } from '../errors';

// An event stream holds a connection for hours. An agent, and all agents of a company, have only so
// many at a time in a process, so that others find a connection.

/** Enough for several windows, and for streams that broke without the server's knowing yet. */
const MAX_OF_AGENT = 5;

interface Streamed {
  company_id: bigint;
  agent_id: bigint;
}

/** Takes a place for a stream, and returns what gives it back. Throws 429 if none is left. */
export type TakePlace = (stream: Streamed) => () => void;

/** The places of a process. A company has a quarter of all connections. */
export function streamPlaces(max_connections: number): TakePlace {
  const max_of_company = Math.ceil(max_connections / 4);
  /** By company, and by `<company>/<agent>`. */
  const taken = new Map<string, number>();
  const add = (key: string, n: 1 | -1) => {
    const sum = (taken.get(key) ?? 0) + n;
    if (sum > 0) taken.set(key, sum);
    else taken.delete(key);
  };
  return ({ company_id, agent_id }) => {
    const company = String(company_id);
    const agent = `${company}/${agent_id}`;
    if ((taken.get(agent) ?? 0) >= MAX_OF_AGENT)
      throw tooMany(`This agent already has ${MAX_OF_AGENT} event streams open.`);
    if ((taken.get(company) ?? 0) >= max_of_company)
      throw tooMany(`Your company's agents already have ${max_of_company} event streams open.`);
    for (const key of [company, agent]) add(key, 1);
    return () => [company, agent].forEach((key) => add(key, -1));
  };
}

const tooMany = (what: string): HttpProblem =>
  new HttpProblem('too_many_at_once', `${what} Close one of them first.`, {
    headers: { 'Retry-After': '10' },
  });
