import type { ServerResponse } from 'node:http';
import { startReceiver, type Answer } from './receiver';

// Bidders: a server on loopback that bids, declines, waits and misbehaves. Each bidder has a path
// of its own, /name.

const json =
  (value: unknown): Answer =>
  (res) =>
    void res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));

/** Answers of bidders. */
export const ANSWERS = {
  /** Dollars, with other fields of the answer. */
  bid: (bid: unknown, fields: object = {}) => json({ accept: true, bid, ...fields }),
  json,
  text:
    (body: string): Answer =>
    (res) =>
      void res.writeHead(200).end(body),
  declines: json({ accept: false }),
  no_content: 204 as Answer,
  /** Never answers. */
  hangs: (() => undefined) as Answer,
  /** Begins an answer and never ends it. */
  stalls: ((res: ServerResponse) => void res.writeHead(200).write('{"bid":')) as Answer,
  closes: ((res: ServerResponse) => void res.destroy()) as Answer,
  not_json: ((res: ServerResponse) => void res.writeHead(200).end('<bid>12</bid>')) as Answer,
  /** A valid bid behind a megabyte. */
  huge: ((res: ServerResponse) =>
    void res
      .writeHead(200)
      .end(JSON.stringify({ padding: 'x'.repeat(1_000_000), bid: 99 }))) as Answer,
  redirects: ((res: ServerResponse) =>
    void res.writeHead(302, { Location: '/elsewhere' }).end()) as Answer,
};

/** Answers by the name of a bidder; a bidder without an answer declines. */
export async function startBidders() {
  let answers: Record<string, Answer> = {};
  const receiver = await startReceiver(({ path }) => answers[parseName(path)] ?? ANSWERS.declines);
  return {
    ...receiver,
    /** Sets the answers, and forgets the requests so far. */
    answer: (next: Record<string, Answer>) => {
      answers = next;
      receiver.received.length = 0;
    },
    listRequested: () => receiver.received.map(({ path }) => parseName(path)).sort(),
    buildUrl: (name: string) => `${receiver.url}/${name}`,
  };
}

const parseName = (path: string) => path.slice(1).split('?')[0]!;

/**
 * An answer that is held back until so many bidders were asked: if they were not asked at once,
 * none of them is answered in time.
 */
export function answerTogether(count: number) {
  const waiting: (() => void)[] = [];
  return (answer: (res: ServerResponse) => void): Answer =>
    (res) => {
      waiting.push(() => answer(res));
      if (waiting.length === count) for (const respond of waiting.splice(0)) respond();
    };
}
