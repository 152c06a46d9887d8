import type { Projection } from './projection';
import { SERVER_RUN } from './server-run';

// Exact counts of filtered rows that do not read all of these rows each time. Ids are divided into
// chunks. A row is settled some minutes after its creation: whatever writes a settled row in a way
// that a filter can see records the chunk of the row, with its transaction, in `call_changes`
// (record_settled_call() of prisma/sql/calls). So a count of a chunk that a process has made stays
// right until
//
// - a transaction that was not visible to that count has recorded the chunk,
// - a row of the chunk appears that was created after the time before which all had settled: its
//   transaction was still open then.
//
// - the server restarted, or a standby took its place: ids of transactions begin again
//   (server-run.ts).
//
// The first two are asked in the statement that counts, of the same snapshot as the page: such chunks are
// counted again, and so are the rows that are not settled. Writing a call that has just begun
// costs nothing of this.
//
// A count that is asked for again is saved, so that a process that starts later need not begin from
// nothing (db/saved-counts.ts). Whoever writes calls without recording it must stop the
// processes, and empty `saved_counts`.

export const CHUNK = 8192;
/** A count is saved again after it has settled that many chunks more. */
const SAVED_EVERY = 16;
/**
 * Younger rows may change without being recorded. Changes are recorded of rows older than ten
 * minutes; the other twenty are a margin for long transactions and for clocks that differ.
 */
const SETTLED_AFTER = '30 minutes';
/**
 * About how many bytes the remembered counts of a process may take. Each filter value that a client
 * asks for makes a count of its own: a client that asks for "until now" makes one at each request.
 */
const MAX_BYTES = 20_000_000;
const BYTES_OF_COUNT = 600;
const BYTES_OF_CHUNK = 40;

/** What a process knows of a count. It is replaced, never changed. */
interface Known {
  /** The snapshot of the count: which transactions it has seen. */
  snapshot: string;
  /** The run of the server that the snapshot is of; none where nothing is known. */
  run: string | undefined;
  /** All rows below the id were created before this time. */
  settled_at: string;
  below: number;
  chunks: ReadonlyMap<number, number>;
  sum: number;
}

/** What is saved of a count. */
export interface SavedCount extends Omit<Known, 'chunks' | 'sum'> {
  chunks: (readonly [chunk: number, n: number])[];
}

/** What a process remembers of a count. */
interface Remembered {
  known: Known;
  /** Up to which id the saved count has settled. */
  saved_below: number;
  /** Whether it was asked for again, or in an earlier process. */
  is_repeated: boolean;
}

const NOTHING: Known = {
  snapshot: '1:1:',
  run: undefined,
  settled_at: 'infinity',
  below: 0,
  chunks: new Map(),
  sum: 0,
};

/** What the statement answers: `chunks` are those counted now, with the number of their rows. */
interface Answer {
  snapshot: string;
  run: string;
  settled_at: string;
  below: number;
  chunks: [chunk: number, n: number][];
  /** Chunks of `known` that no longer count. */
  changed: number[];
}

/** A count for one statement. */
export interface SettledCount {
  /** SQL of the answer as text, in place of the number. */
  sql: string;
  values: Record<string, string | number>;
  /** The number, of the statement's answer. Throws OutdatedCount where it cannot be told. */
  read(answer: string): number;
}

/** What was remembered is of another run of the server, and is forgotten: count again. */
export class OutdatedCount extends Error {}

/** The counts that a process remembers; the one used last is at the end. */
export class SettledCounts {
  private readonly remembered = new Map<string, Remembered>();
  private size = 0;

  constructor(
    private readonly max_bytes = MAX_BYTES,
    private readonly saved_every = SAVED_EVERY,
  ) {}

  /** `key` says what is counted: company, conditions and their values. */
  of(projection: Projection, conditions: readonly string[], key: string): SettledCount {
    const known = this.remembered.get(key)?.known ?? NOTHING;
    const { snapshot, settled_at, below } = known;
    return {
      sql: answerSql(projection, conditions),
      values: { count_snapshot: snapshot, count_settled_at: settled_at, count_below: below },
      read: (answer) => {
        const found = JSON.parse(answer) as Answer;
        if (known.run !== undefined && known.run !== found.run) {
          this.drop(key);
          throw new OutdatedCount();
        }
        const { next, total } = advance(known, found);
        const { saved_below = 0 } = this.remembered.get(key) ?? {};
        const is_repeated = this.remembered.has(key);
        this.keep(key, { known: next, saved_below, is_repeated });
        return total;
      },
    };
  }

  /** Remembers what `load` has of a count, unless the process knows the count. */
  async recall(key: string, load: () => Promise<SavedCount | undefined>): Promise<void> {
    if (this.remembered.has(key)) return;
    const saved = await load();
    if (!saved || this.remembered.has(key)) return;
    const chunks = new Map(saved.chunks);
    const known = { ...saved, chunks, sum: sumOf(chunks) };
    this.keep(key, { known, saved_below: saved.below, is_repeated: true });
  }

  /** What is to be saved of a count now; it is taken as saved. */
  toSave(key: string): SavedCount | undefined {
    const { known, saved_below, is_repeated } = this.remembered.get(key) ?? {};
    if (!known || !is_repeated) return undefined;
    if (known.below - saved_below! < this.saved_every * CHUNK) return undefined;
    this.keep(key, { known, saved_below: known.below, is_repeated });
    const { snapshot, run, settled_at, below, chunks } = known;
    return { snapshot, run, settled_at, below, chunks: [...chunks] };
  }

  private keep(key: string, next: Remembered): void {
    this.drop(key);
    this.remembered.set(key, next);
    this.size += sizeOf(key, next.known);
    for (const oldest of this.remembered.keys()) {
      if (this.size <= this.max_bytes) break;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    const found = this.remembered.get(key);
    if (!found) return;
    this.remembered.delete(key);
    this.size -= sizeOf(key, found.known);
  }
}

const sizeOf = (key: string, { chunks }: Known): number =>
  BYTES_OF_COUNT + 2 * key.length + BYTES_OF_CHUNK * chunks.size;

/** The number of rows, and what is known from now on. */
function advance(known: Known, answer: Answer): { next: Known; total: number } {
  const changed = answer.changed.filter((chunk) => known.chunks.has(chunk));
  const stale = changed.reduce((sum, chunk) => sum + known.chunks.get(chunk)!, 0);
  const counted = answer.chunks.reduce((sum, [, n]) => sum + n, 0);
  const total = known.sum - stale + counted;
  const settles = answer.below > known.below;
  if (!settles && answer.changed.length === 0) return { next: known, total };
  const { settled_at, below } = settles ? answer : known;
  const chunks = new Map(known.chunks);
  for (const chunk of changed) chunks.delete(chunk);
  for (const [chunk, n] of answer.chunks) if (chunk * CHUNK < below) chunks.set(chunk, n);
  const { snapshot, run } = answer;
  return { next: { snapshot, run, settled_at, below, chunks, sum: sumOf(chunks) }, total };
}

const sumOf = (chunks: ReadonlyMap<number, number>): number =>
  [...chunks.values()].reduce((all, n) => all + n, 0);

/** `min(id + 0)`: of `min(id)` the planner makes a walk along the ids. */
function answerSql({ plural }: Projection, conditions: readonly string[]): string {
  const rows = `${plural} t
    WHERE t.company_id = {company_id} AND t.deleted_at IS NULL`;
  const matching = [rows, ...conditions].join(' AND ');
  return `WITH changed AS MATERIALIZED (
  SELECT x.chunk FROM call_changes x
  WHERE x.company_id = {company_id} AND x.chunk < {count_below}::bigint / ${CHUNK}
    AND x.xid >= pg_snapshot_xmin({count_snapshot}::pg_snapshot)
    AND NOT pg_visible_in_snapshot(x.xid, {count_snapshot}::pg_snapshot)
  UNION
  SELECT t.id / ${CHUNK} FROM ${rows}
    AND t.created_at > {count_settled_at}::timestamptz AND t.id < {count_below}::bigint
), counted AS (
  SELECT t.id / ${CHUNK} AS chunk, count(*) AS n FROM ${matching}
    AND t.id >= {count_below}::bigint
  GROUP BY 1
  UNION ALL
  SELECT x.chunk, c.n FROM changed x, LATERAL (
    SELECT count(*) AS n FROM ${matching}
      AND t.id >= x.chunk * ${CHUNK} AND t.id < (x.chunk + 1) * ${CHUNK}
  ) c
)
SELECT json_build_object(
  'snapshot', pg_current_snapshot()::text,
  'run', ${SERVER_RUN.text},
  'settled_at', now() - interval '${SETTLED_AFTER}',
  'below', least(
    (SELECT min(t.id + 0) FROM ${rows} AND t.created_at > now() - interval '${SETTLED_AFTER}'),
    (SELECT max(t.id) + 1 FROM ${plural} t WHERE t.company_id = {company_id})
  ) / ${CHUNK} * ${CHUNK},
  'chunks', (SELECT coalesce(json_agg(json_build_array(chunk, n)), '[]') FROM counted),
  'changed', (SELECT coalesce(json_agg(chunk), '[]') FROM changed)
)`;
}

export const settledCounts = new SettledCounts();
