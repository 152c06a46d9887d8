import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { sqlOn, type SqlText } from '../../data/sql';
import { toCountDelta } from './change-numbers';
import type { Run } from './claim-file';
import type { PackedBatch } from './csv/thread';
import { RECORD_PROGRESS } from './queries/import-run';
import { MOVE_BLOCKED_COUNT } from './queries/numbers';
import {
  BLOCK_STAGED,
  BLOCK_STAGED_WHEN_CONTENDED,
  COPY_STAGED_NUMBERS,
  COPY_STAGED_ROWS,
  INSERT_REJECTED_ROWS,
  STAGE,
  STAGE_ROWS,
  UNBLOCK_STAGED,
} from './queries/staged-numbers';

/** One transaction of an import: a batch of numbers, or the rejected rows. */
export interface ImportBatch {
  batch?: PackedBatch;
  /** Rows of company_id, file, line, caller_id and reason, packed for COPY. */
  rejected?: Uint8Array;
  rejected_count?: number;
}

/**
 * Writes a batch, the progress of its file and the count of the list, in this order: a file is
 * always locked before its list. Returns false when the run has ended or the list has been deleted:
 * the transaction must then be rolled back.
 */
export async function importBatch(
  client: PoolClient,
  run: Run,
  { batch, rejected, rejected_count = 0 }: ImportBatch,
  contended: boolean,
): Promise<boolean> {
  const sql = sqlOn(client);
  const { company_id, id, run_id, list } = run;
  const changed = batch ? await mergeNumbers(client, run, batch.numbers, contended) : 0;
  if (rejected) await writeRejected(client, run, rejected);
  const progress = { taken: batch?.rowCount ?? 0, rejected: rejected_count, changed };
  const recorded = await sql(RECORD_PROGRESS, { company_id, id, run_id, ...progress });
  if (recorded.length === 0) return false;
  const by = toCountDelta(run.verb, changed);
  return (await sql(MOVE_BLOCKED_COUNT, { company_id, list, by })).length > 0;
}

/** Puts packed numbers on the list or takes them off; returns how many changed. */
async function mergeNumbers(
  client: PoolClient,
  { company_id, list, verb }: Run,
  packed: Uint8Array,
  contended: boolean,
): Promise<number> {
  await client.query(STAGE.text);
  await copyRows(client, COPY_STAGED_NUMBERS, packed);
  const block = contended ? BLOCK_STAGED_WHEN_CONTENDED : BLOCK_STAGED;
  const merge = verb === 'block' ? block : UNBLOCK_STAGED;
  // Counted by the driver: RETURNING would send a row for each number.
  const { rowCount } = await client.query(merge.bind({ company_id, list }));
  return rowCount ?? 0;
}

async function writeRejected(
  client: PoolClient,
  { company_id }: Run,
  packed: Uint8Array,
): Promise<void> {
  await client.query(STAGE_ROWS.text);
  await copyRows(client, COPY_STAGED_ROWS, packed);
  await sqlOn(client)(INSERT_REJECTED_ROWS, { company_id });
}

const copyRows = (client: PoolClient, into: SqlText, packed: Uint8Array): Promise<void> =>
  pipeline(
    Readable.from(sliceBytes(packed), { objectMode: false }),
    client.query(copyFrom(into.text)),
  );

/** Bytes per write, so that a whole batch is never buffered in the connection. */
const SLICE_BYTES = 128 * 1024;

function* sliceBytes(packed: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < packed.length; at += SLICE_BYTES)
    yield packed.subarray(at, at + SLICE_BYTES);
}
