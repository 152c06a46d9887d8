import type { Projection } from '../projection/projection';
import { SERVER_RUN } from '../postgres/server-run';

// Exact counts of filtered rows that do not read all of these rows each time. Ids are divided into
// chunks. A row is settled some minutes after its creation: every later write that a filter can see
// records the chunk of the row, with its transaction, in `call_changes` (record_settled_call() of
// prisma/sql/calls). So the cached count of a chunk stays right until
//
// - a transaction that was not visible to the count has recorded the chunk,
// - a row appears in the chunk that was created after the time before which all rows had settled:
//   its transaction was still open then,
// - the server restarts, or a standby takes its place: transaction ids start again
//   (src/data/postgres/server-run.ts).
//
// The statement that counts checks the first two in the snapshot of the page. It counts such chunks
// again, as well as the rows that are not settled. Writes of recent calls pay nothing for this.
//
// A count that is requested again is saved, so that a process that starts later does not start from
// nothing (src/data/counts/saved-counts.ts). An operator who writes calls without recording their
// chunks must stop the processes, and empty `saved_counts`.

export const CHUNK = 8192;
/** A count is saved again after this many further chunks have settled. */
const SAVED_EVERY = 16;
/**
 * Younger rows may change without being recorded. Changes of rows older than ten minutes are
 * recorded; the other twenty are a margin for long transactions and for clocks that differ.
 */
const SETTLED_AFTER = '30 minutes';
/**
 * Approximate memory for the cached counts of a process, in bytes. Each filter value makes a count
 * of its own: a client that filters up to the current time makes one per request.
 */
const MAX_BYTES = 20_000_000;
const BYTES_OF_COUNT = 600;
const BYTES_OF_CHUNK = 40;

/** State of a cached count. It is replaced, never changed. */
interface CountState {
  /** The snapshot of the count, which shows the transactions that it has seen. */
  snapshot: string;
  /** The run of the server to which the snapshot belongs; undefined if nothing was counted. */
  run: string | undefined;
  /** All rows below the id were created before this time. */
  settled_at: string;
  below: number;
  chunks: ReadonlyMap<number, number>;
  sum: number;
}

export interface SavedCount extends Omit<CountState, 'chunks' | 'sum'> {
  chunks: (readonly [chunk: number, n: number])[];
}

interface RememberedCount {
  state: CountState;
  /** The id up to which the saved count has settled. */
  saved_below: number;
  /** True if it was requested again, or by an earlier process. */
  is_repeated: boolean;
}

const EMPTY_STATE: CountState = {
  snapshot: '1:1:',
  run: undefined,
  settled_at: 'infinity',
  below: 0,
  chunks: new Map(),
  sum: 0,
};

/** Answer of the statement: `chunks` are those counted now, with their number of rows. */
interface CountAnswer {
  snapshot: string;
  run: string;
  settled_at: string;
  below: number;
  chunks: [chunk: number, n: number][];
  /** Cached chunks that no longer count. */
  changed: number[];
}

export interface CachedCount {
  /** SQL that returns the answer as text, instead of the number. */
  sql: string;
  values: Record<string, string | number>;
  /**
   * Returns the number in the statement's answer. Throws OutdatedCount if the cached state cannot
   * be used.
   */
  read(answer: string): number;
}

/** The cached count belongs to another run of the server and is dropped: count again. */
export class OutdatedCount extends Error {}

/** The counts that a process caches; the most recently used is last. */
export class CachedCounts {
  private readonly remembered = new Map<string, RememberedCount>();
  private size = 0;

  constructor(
    private readonly max_bytes = MAX_BYTES,
    private readonly saved_every = SAVED_EVERY,
  ) {}

  /** `key` identifies the count: company, conditions and their values. */
  prepare(projection: Projection, conditions: readonly string[], key: string): CachedCount {
    const state = this.remembered.get(key)?.state ?? EMPTY_STATE;
    const { snapshot, settled_at, below } = state;
    return {
      sql: answerSql(projection, conditions),
      values: { count_snapshot: snapshot, count_settled_at: settled_at, count_below: below },
      read: (answer) => {
        const parsedAnswer = JSON.parse(answer) as CountAnswer;
        if (state.run !== undefined && state.run !== parsedAnswer.run) {
          this.drop(key);
          throw new OutdatedCount();
        }
        const { next, total } = applyAnswer(state, parsedAnswer);
        const { saved_below = 0 } = this.remembered.get(key) ?? {};
        const isRepeated = this.remembered.has(key);
        this.keep(key, { state: next, saved_below, is_repeated: isRepeated });
        return total;
      },
    };
  }

  /** Caches the count that `load` returns, unless the process has one. */
  async loadOnce(key: string, load: () => Promise<SavedCount | undefined>): Promise<void> {
    if (this.remembered.has(key)) return;
    const saved = await load();
    if (!saved || this.remembered.has(key)) return;
    const chunks = new Map(saved.chunks);
    const state = { ...saved, chunks, sum: sumRows(chunks) };
    this.keep(key, { state, saved_below: saved.below, is_repeated: true });
  }

  /** Returns the count if it should be saved now, and marks it as saved. */
  takeUnsaved(key: string): SavedCount | undefined {
    const { state, saved_below, is_repeated } = this.remembered.get(key) ?? {};
    if (!state || !is_repeated) return undefined;
    if (state.below - saved_below! < this.saved_every * CHUNK) return undefined;
    this.keep(key, { state, saved_below: state.below, is_repeated });
    const { snapshot, run, settled_at, below, chunks } = state;
    return { snapshot, run, settled_at, below, chunks: [...chunks] };
  }

  private keep(key: string, next: RememberedCount): void {
    this.drop(key);
    this.remembered.set(key, next);
    this.size += estimateSize(key, next.state);
    for (const oldest of this.remembered.keys()) {
      if (this.size <= this.max_bytes) break;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    const entry = this.remembered.get(key);
    if (!entry) return;
    this.remembered.delete(key);
    this.size -= estimateSize(key, entry.state);
  }
}

const estimateSize = (key: string, { chunks }: CountState): number =>
  BYTES_OF_COUNT + 2 * key.length + BYTES_OF_CHUNK * chunks.size;

/** Returns the number of rows, and the new state. */
function applyAnswer(state: CountState, answer: CountAnswer): { next: CountState; total: number } {
  const changed = answer.changed.filter((chunk) => state.chunks.has(chunk));
  const stale = changed.reduce((sum, chunk) => sum + state.chunks.get(chunk)!, 0);
  const counted = answer.chunks.reduce((sum, [, n]) => sum + n, 0);
  const total = state.sum - stale + counted;
  const settles = answer.below > state.below;
  if (!settles && answer.changed.length === 0) return { next: state, total };
  const { settled_at, below } = settles ? answer : state;
  const chunks = new Map(state.chunks);
  for (const chunk of changed) chunks.delete(chunk);
  for (const [chunk, n] of answer.chunks) if (chunk * CHUNK < below) chunks.set(chunk, n);
  const { snapshot, run } = answer;
  return { next: { snapshot, run, settled_at, below, chunks, sum: sumRows(chunks) }, total };
}

const sumRows = (chunks: ReadonlyMap<number, number>): number =>
  [...chunks.values()].reduce((all, n) => all + n, 0);

/** `min(id + 0)`: for `min(id)` the planner would walk along the ids. */
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

export const cachedCounts = new CachedCounts();
