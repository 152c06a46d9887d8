import type { Logger } from 'pino';
import type { Pool } from 'pg';

// Requests are counted in fixed windows by the database's clock, exactly over any number of processes, and yet without a statement a request: a
// process takes permits in blocks and spends them by itself. Blocks shrink with what remains, and what is not spent soon is given back.

export interface Subject {
  company_id: bigint;
  /** Of the company: a credential or a lead token. */
  name: string;
  /** Permits of a window. */
  limit: number;
}

export interface Answer {
  allowed: boolean;
  /** Permits that are left, as far as this process knows. */
  remaining: number;
  /** Until the next window. */
  resets_in_ms: number;
}

export interface RateLimitCounter {
  /** Spends a permit; at once when this process has one. */
  take(subject: Subject): Answer | Promise<Answer>;
  /** Gives back what is not spent. */
  close(): Promise<void>;
}

export interface RateLimitCounterOptions {
  pool: Pool;
  log: Logger;
  window_seconds: number;
}

/** How long a process keeps permits that it does not spend. */
const GIVE_BACK_MS = 1_000;
/** How long "none is left" is taken for granted: another process may give some back. */
const USED_UP_MS = 250;
const MOST_BOOKS = 10_000;

/** What a process knows of a subject. Times are those of `performance`. */
interface Book {
  subject: Subject;
  /** Start of the window that the permits are of, as the database writes it. */
  window: string;
  held: number;
  /** What was left to take when they were. */
  left: number;
  ends_at: number;
  used_up_until: number;
  fetched_at: number;
  /** Requests that wait for a permit. */
  waiting: number;
  fetching: Promise<void> | undefined;
}

/** A permit for each who waits, and beyond that a tenth of what remains, 500 at most, and nothing when fewer than 200 remain: a small limit is exact to the request. */
const block = (remaining: string) =>
  `least(greatest(${remaining}, 0), greatest($5::int, CASE WHEN ${remaining} < 200 THEN 1 ELSE least(500, ${remaining} / 10) END))`;
// A statement that had to wait for another may know an older window than that one wrote: the younger counts.
const USED = 'CASE WHEN w.window_starts_at >= excluded.window_starts_at THEN w.used ELSE 0 END';
const TAKE = `INSERT INTO rate_limits AS w (company_id, subject, window_starts_at, used, granted)
SELECT $1::bigint, $2::text, to_timestamp(floor(extract(epoch FROM clock_timestamp()) / $4::int) * $4::int), n, n FROM (SELECT ${block('$3::int')} AS n) b
ON CONFLICT (company_id, subject) DO UPDATE SET (window_starts_at, used, granted) =
  (SELECT greatest(w.window_starts_at, excluded.window_starts_at), u.used + n, n FROM (SELECT ${USED} AS used) u, LATERAL (SELECT ${block('($3::int - u.used)')} AS n) b)
RETURNING granted, used, window_starts_at::text AS window, extract(epoch FROM window_starts_at - clock_timestamp())::float8 + $4::int AS seconds_left`;

const GIVE_BACK = `UPDATE rate_limits w SET used = w.used - g.n
FROM (SELECT r.company_id, r.subject, b.n FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::int[]) AS b(company_id, subject, window_starts_at, n)
  JOIN rate_limits r USING (company_id, subject, window_starts_at) ORDER BY r.company_id, r.subject FOR UPDATE OF r) g
WHERE w.company_id = g.company_id AND w.subject = g.subject`;

/** Deletes windows that are long over, of all companies. */
export const DELETE_EXPIRED_WINDOWS = `DELETE FROM rate_limits WHERE window_starts_at < now() - interval '1 day'`;

interface Taken {
  granted: number;
  used: number;
  window: string;
  seconds_left: number;
}

export function openRateLimitCounter({
  pool,
  log,
  window_seconds,
}: RateLimitCounterOptions): RateLimitCounter {
  const books = new Map<string, Book>();
  let timer: NodeJS.Timeout | undefined;

  const fetchBlock = async (book: Book) => {
    const { company_id, name, limit } = book.subject;
    const sent_at = performance.now();
    const { rows } = await pool.query<Taken>({
      name: 'take_permits',
      text: TAKE,
      values: [company_id, name, limit, window_seconds, book.waiting],
    });
    const { granted, used, window, seconds_left } = rows[0]!;
    book.held = granted + (window === book.window ? book.held : 0);
    book.window = window;
    book.left = Math.max(0, limit - used);
    // Counted from before the database was asked: no permit is spent after its window.
    book.ends_at = sent_at + seconds_left * 1000;
    book.fetched_at = performance.now();
    book.used_up_until = granted > 0 ? 0 : book.fetched_at + USED_UP_MS;
    if (book.held > 0) timer ??= setTimeout(() => void tidy(), GIVE_BACK_MS).unref();
  };

  const spend = (book: Book): Answer | undefined => {
    const now = performance.now();
    if (now >= book.ends_at) return undefined;
    const answer = (allowed: boolean) => ({
      allowed,
      remaining: book.held + book.left,
      resets_in_ms: book.ends_at - now,
    });
    if (book.held > 0) {
      book.held -= 1;
      return answer(true);
    }
    return now < book.used_up_until ? answer(false) : undefined;
  };

  const wait = async (book: Book): Promise<Answer> => {
    book.waiting += 1;
    try {
      for (;;) {
        await (book.fetching ??= fetchBlock(book).finally(() => (book.fetching = undefined)));
        const answer = spend(book);
        if (answer) return answer;
      }
    } finally {
      book.waiting -= 1;
    }
  };

  const giveBack = async (from: Book[]) => {
    if (from.length === 0) return;
    const numbers = from.map(({ held }) => held);
    for (const book of from) {
      book.left += book.held;
      book.held = 0;
    }
    const subjects = [
      from.map(({ subject }) => subject.company_id),
      from.map(({ subject }) => subject.name),
    ];
    await pool
      .query(GIVE_BACK, [...subjects, from.map(({ window }) => window), numbers])
      .catch((error: unknown) => {
        // They count as spent until the window is over: too few are allowed then, never too many.
        log.debug({ err: error }, 'permits could not be given back');
      });
  };

  const tidy = async () => {
    timer = undefined;
    const now = performance.now();
    const holding = [...books.values()].filter(({ held, ends_at }) => held > 0 && ends_at > now);
    const [old, young] = [
      holding.filter((book) => now - book.fetched_at >= GIVE_BACK_MS / 2),
      holding.filter((book) => now - book.fetched_at < GIVE_BACK_MS / 2),
    ];
    if (young.length > 0) timer = setTimeout(() => void tidy(), GIVE_BACK_MS / 2).unref();
    await giveBack(old);
  };

  const bookOf = (subject: Subject): Book => {
    const key = `${subject.company_id}/${subject.name}`;
    const found = books.get(key);
    if (found) return found;
    if (books.size >= MOST_BOOKS) forgetFinished(books);
    const book = {
      subject,
      window: '',
      held: 0,
      left: 0,
      ends_at: 0,
      used_up_until: 0,
      fetched_at: 0,
      waiting: 0,
      fetching: undefined,
    };
    books.set(key, book);
    return book;
  };

  return {
    take: (subject) => {
      const book = bookOf(subject);
      return spend(book) ?? wait(book);
    },
    close: async () => {
      clearTimeout(timer);
      await giveBack([...books.values()].filter(({ held }) => held > 0));
    },
  };
}

function forgetFinished(books: Map<string, Book>): void {
  const now = performance.now();
  for (const [key, { ends_at, waiting }] of books)
    if (ends_at < now && waiting === 0) books.delete(key);
}
