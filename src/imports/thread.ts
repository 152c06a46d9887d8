import { parentPort, workerData } from 'node:worker_threads';
import type { Wanted } from './layout';
import { packNumbers } from './pack';
import { inspect, readBatches, type Inspection, type RejectedRow, type Source } from './reader';
import { FileProblem } from './text';

// Reads one file on a thread of its own, so that the event loop answers requests meanwhile.

export interface ThreadData {
  source: Source;
  wanted: Wanted;
}

export type Order = { batches: { skip: number; size: number } } | 'next';

/** A batch whose numbers are packed for COPY. */
export interface PackedBatch {
  taken: number;
  numbers: Uint8Array<ArrayBuffer>;
  rejected: RejectedRow[];
}

export type Answer = { inspection: Inspection } | { batch: PackedBatch | undefined } | { problem: string; headers: string[] | undefined } | { fault: string };

const port = parentPort!;
const { source, wanted } = workerData as ThreadData;
let layout: Inspection['layout'];
let batches: AsyncGenerator<PackedBatch>;
let next: Promise<IteratorResult<PackedBatch>>;

const post = (answer: Answer, transfer: ArrayBuffer[] = []) => port.postMessage(answer, transfer);

async function start(): Promise<void> {
  const inspection = await inspect(source, wanted);
  ({ layout } = inspection);
  post({ inspection });
}

async function* packed({ skip, size }: { skip: number; size: number }): AsyncGenerator<PackedBatch> {
  for await (const { taken, numbers, rejected } of readBatches({ ...source, layout, skip, size })) yield { taken, rejected, numbers: packNumbers(numbers) };
}

/** The next batch is made while the database still works on this one. */
function ahead(): void {
  next = batches.next();
  // Its error is reported when it is asked for.
  next.catch(() => undefined);
}

async function obey(order: Order): Promise<void> {
  if (order !== 'next') {
    batches = packed(order.batches);
    return ahead();
  }
  const { value, done } = await next;
  if (done) return post({ batch: undefined });
  post({ batch: value }, [value.numbers.buffer]);
  ahead();
}

function report(error: unknown): void {
  if (error instanceof FileProblem) post({ problem: error.message, headers: (error as FileProblem & { headers?: string[] }).headers });
  else post({ fault: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

port.on('message', (order: Order) => void obey(order).catch(report));
start().catch(report);
