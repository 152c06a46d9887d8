import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { Layout } from './layout';
import { packedLength, packNumbers, TextRows } from './pack';
import { openStorage } from '../../../platform/storage/open';
import { StorageUnavailable, type StorageSettings } from '../../../platform/storage/storage';
import { readBatches, readNumbers, type ReadOptions, type Reading } from './reader';
import { FileProblem } from '../../../platform/csv/text';

// Reads one file on a separate thread, so that the event loop is free for requests.

export interface ThreadData {
  source: { storage: StorageSettings; key: string };
  readOptions: ReadOptions;
  /** The first cells of each rejected row: the company and the file. */
  owner: string[];
}

export interface Summary {
  layout: Layout;
  total: number;
  rejected_count: number;
  /** Rows of owner, line, caller_id and reason, packed for COPY; the first 100,000. */
  rejected: Uint8Array<ArrayBuffer>;
}

/** `memory` is that of an earlier batch, which has been written. */
export type ThreadRequest =
  { batches: { skip: number; size: number } } | { next: { memory: ArrayBuffer | undefined } };

export interface PackedBatch {
  rowCount: number;
  numbers: Uint8Array<ArrayBuffer>;
}

export type ThreadResponse =
  | { summary: Summary }
  | { batch: PackedBatch | undefined }
  | { problem: string; headers: string[] | undefined }
  | { unavailable: string }
  | { fault: string };

const MISSING = 'The uploaded file is not in the storage of this server any more. Send it again.';

const port = parentPort!;
const { source, readOptions, owner } = workerData as ThreadData;
let reading: Reading;
let batches: Generator<PackedBatch>;
let next: (() => PackedBatch | undefined) | undefined;
/**
 * Two buffers are passed back and forth between the threads. A new one for each batch would stay
 * until both threads have run their garbage collection, which the waiting thread seldom does.
 */
let reusableBuffer: ArrayBuffer | undefined;

const post = (answer: ThreadResponse, transfer: ArrayBuffer[] = []) =>
  port.postMessage(answer, transfer);

async function start(): Promise<void> {
  yieldToRequests();
  const rows = new TextRows();
  const file = await openStorage(source.storage).open(source.key);
  if (!file) throw new FileProblem(MISSING);
  const bytes = file.stream as AsyncIterable<Buffer>;
  reading = await readNumbers(bytes, readOptions, ({ line, caller_id, reason }) =>
    rows.add([...owner, String(line), caller_id, reason]),
  );
  const { layout, total, rejected_count } = reading;
  const rejected = rows.bytes();
  post({ summary: { layout, total, rejected_count, rejected } }, [rejected.buffer]);
}

/** Gives this thread a lower priority than requests. Only Linux supports this for one thread. */
function yieldToRequests(): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), 10);
  } catch {
    // The thread keeps its normal priority.
  }
}

function* packBatches(from: { skip: number; size: number }): Generator<PackedBatch> {
  for (const { rowCount, numbers } of readBatches(reading, from)) {
    const memory = reusableBuffer ?? new ArrayBuffer(packedLength(from.size));
    reusableBuffer = undefined;
    yield { rowCount, numbers: packNumbers(numbers, memory) };
  }
}

/** Packs the next batch while the database is still busy with the previous one. */
function packNext(): void {
  try {
    const { value, done } = batches.next();
    next = () => (done ? undefined : value);
  } catch (error) {
    // Thrown when the batch is requested: before that, the other thread does not expect a message.
    next = () => {
      throw error;
    };
  }
}

function execute(order: ThreadRequest): void {
  if ('batches' in order) {
    batches = packBatches(order.batches);
    return packNext();
  }
  reusableBuffer ??= order.next.memory;
  const batch = next!();
  if (!batch) return post({ batch: undefined });
  post({ batch }, [batch.numbers.buffer]);
  packNext();
}

function report(error: unknown): void {
  if (error instanceof FileProblem)
    post({
      problem: error.message,
      headers: (error as FileProblem & { headers?: string[] }).headers,
    });
  else if (error instanceof StorageUnavailable) post({ unavailable: error.message });
  else post({ fault: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

port.on('message', (order: ThreadRequest) => {
  try {
    execute(order);
  } catch (error) {
    report(error);
  }
});
start().catch(report);
