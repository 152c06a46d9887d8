import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { Layout, Wanted } from './layout';
import { packNumbers, TextRows } from './pack';
import { batchesOf, readNumbers, type Reading, type Source } from './reader';
import { FileProblem } from './text';

// Reads one file on a thread of its own, so that the event loop answers requests meanwhile.

export interface ThreadData {
  source: Source;
  wanted: Wanted;
  /** First cells of each rejected row: whose file it is. */
  owner: string[];
}

/** What is told of a file once it has been read. */
export interface Summary {
  layout: Layout;
  total: number;
  rejected_count: number;
  /** Rows of owner, line, caller_id and reason, packed for COPY; the first 100,000. */
  rejected: Uint8Array<ArrayBuffer>;
}

export type Order = { batches: { skip: number; size: number } } | 'next';

/** A batch whose numbers are packed for COPY. */
export interface PackedBatch {
  taken: number;
  numbers: Uint8Array<ArrayBuffer>;
}

export type Answer =
  | { summary: Summary }
  | { batch: PackedBatch | undefined }
  | { problem: string; headers: string[] | undefined }
  | { fault: string };

const port = parentPort!;
const { source, wanted, owner } = workerData as ThreadData;
let reading: Reading;
let batches: Generator<PackedBatch>;
let next: (() => PackedBatch | undefined) | undefined;

const post = (answer: Answer, transfer: ArrayBuffer[] = []) => port.postMessage(answer, transfer);

async function start(): Promise<void> {
  yieldToRequests();
  const rows = new TextRows();
  reading = await readNumbers(source, wanted, ({ line, caller_id, reason }) =>
    rows.add([...owner, String(line), caller_id, reason]),
  );
  const { layout, total, rejected_count } = reading;
  const rejected = rows.bytes();
  post({ summary: { layout, total, rejected_count, rejected } }, [rejected.buffer]);
}

/** Requests come first where processors are few. Only Linux can tell threads apart. */
function yieldToRequests(): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), 10);
  } catch {
    // Then it competes as any other.
  }
}

function* packed(from: { skip: number; size: number }): Generator<PackedBatch> {
  for (const { taken, numbers } of batchesOf(reading, from))
    yield { taken, numbers: packNumbers(numbers) };
}

/** The next batch is made while the database still works on this one. */
function ahead(): void {
  try {
    const { value, done } = batches.next();
    next = () => (done ? undefined : value);
  } catch (error) {
    // It is told when the batch is asked for; nobody listens before.
    next = () => {
      throw error;
    };
  }
}

function obey(order: Order): void {
  if (order !== 'next') {
    batches = packed(order.batches);
    return ahead();
  }
  const batch = next!();
  if (!batch) return post({ batch: undefined });
  post({ batch }, [batch.numbers.buffer]);
  ahead();
}

function report(error: unknown): void {
  if (error instanceof FileProblem)
    post({
      problem: error.message,
      headers: (error as FileProblem & { headers?: string[] }).headers,
    });
  else post({ fault: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

port.on('message', (order: Order) => {
  try {
    obey(order);
  } catch (error) {
    report(error);
  }
});
start().catch(report);
