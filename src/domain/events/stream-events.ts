import type { Db } from '../../data/db';
import type { Caller } from '../../api/auth/caller';
import { readEvents, type ReadKind } from './kinds';
import type { Live } from './live';
import { toMinute, writeEventId, type EventId, type Position } from './position';
import { FIND_NOW } from './queries/events';

/** A stream without events sends its position this often. */
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2_000;
/** A reader that was away longer loads everything again. */
const MAX_AWAY_MINUTES = 24 * 60;

interface Stream {
  db: Db;
  live: Live;
  caller: Caller;
  kinds: readonly ReadKind[];
  /** The event that the reader had last. */
  after: EventId | undefined;
  wait_ms: number;
  clock: () => Date;
  pepper: string;
  reader_gone: AbortSignal;
}

/**
 * Yields the events of a company as text of server-sent events: first those since `after`, then new
 * ones until `wait_ms` have passed, the reader is gone, or the stream must end.
 */
export async function* streamEvents(stream: Stream): AsyncGenerator<string> {
  const { db, live, caller, after, wait_ms, reader_gone } = stream;
  const until = performance.now() + wait_ms;
  const now = await findNow(db);
  const reason = after && findResetReason(after, now, stream.clock());
  const id: ResumePoint = reason || !after ? { position: now, part: undefined } : after;
  const following = wait_ms > 0 ? live.followCompany({ caller, position: now }) : undefined;
  const stop = () => following?.close();
  reader_gone.addEventListener('abort', stop);
  try {
    // The position first: a reader that is cut off before the first event resumes from here.
    yield `retry: ${RETRY_MS}\n${idLine(stream, id)}\n`;
    if (reason) yield `${idLine(stream, id)}event: reset\ndata: ${JSON.stringify({ reason })}\n\n`;
    let position = yield* sendUpTo(stream, id, now);
    while (!reader_gone.aborted) {
      const left = until - performance.now();
      if (!following || following.over || left <= 0) return;
      await following.wait(Math.min(HEARTBEAT_MS, left));
      position = yield* sendUpTo(stream, { position, part: undefined }, following.latest);
    }
  } finally {
    reader_gone.removeEventListener('abort', stop);
    stop();
  }
}

type ResumePoint = Omit<EventId, 'minute'>;

/** Sends the events up to a position, and then that position, which it returns. */
async function* sendUpTo(
  stream: Stream,
  { position: from, part }: ResumePoint,
  latest: Position,
): AsyncGenerator<string, Position> {
  let position = from;
  if (part) {
    yield* sendWindow(stream, { position, part }, part.to);
    position = { ...position, horizon: part.to };
  }
  if (latest.horizon > position.horizon) {
    yield* sendWindow(stream, { position, part: undefined }, latest.horizon);
    position = latest;
  }
  yield `${idLine(stream, { position, part: undefined })}\n`;
  return position;
}

async function* sendWindow(
  stream: Stream,
  { position: from, part }: ResumePoint,
  to: bigint,
): AsyncGenerator<string> {
  const { db, kinds } = stream;
  for await (const event of readEvents(db, kinds, { from, to, part })) {
    const id = idLine(stream, { position: from, part: event.part });
    yield `${id}event: ${event.kind}\ndata: ${event.data}\n\n`;
  }
}

const idLine = ({ clock, pepper }: Stream, { position, part }: ResumePoint): string =>
  `id: ${writeEventId({ position, part, minute: toMinute(clock()) }, pepper)}\n`;

async function findNow(db: Db): Promise<Position> {
  const [now] = await db.sql(FIND_NOW, {});
  return {
    server: now!.server!,
    horizon: BigInt(now!.horizon!),
    calls_after: BigInt(now!.calls_after!),
    leads_after: BigInt(now!.leads_after!),
  };
}

/** The reason why a stream cannot resume after an event; undefined where it can. */
function findResetReason(
  { position, minute }: EventId,
  now: Position,
  at: Date,
): 'too_old' | 'other_server' | undefined {
  if (position.server !== now.server || position.horizon > now.horizon) return 'other_server';
  return toMinute(at) - minute > MAX_AWAY_MINUTES ? 'too_old' : undefined;
}
