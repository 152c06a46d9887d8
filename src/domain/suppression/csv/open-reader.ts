import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StorageUnavailable } from '../../../platform/storage/storage';
import { ColumnProblem } from './layout';
import { FileProblem } from '../../../platform/csv/text';
import type { ThreadResponse, ThreadRequest, PackedBatch, Summary, ThreadData } from './thread';

/** A file that is read on another thread. Its methods throw FileProblem for an invalid file. */
export interface ImportReader {
  summary(): Promise<Summary>;
  /**
   * The batches without the first `skip` rows; to be read after `summary`. Each batch reuses the
   * memory of the previous one.
   */
  batches(from: { skip: number; size: number }): AsyncGenerator<PackedBatch>;
  close(): Promise<void>;
}

/** Enough for the longest row. A file that needs more ends its thread, but not the process. */
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 6 };

export function openReader(data: ThreadData): ImportReader {
  const thread = startThread(data);
  const ask = openConversation(thread);
  const summary = ask().then((answer) => (answer as { summary: Summary }).summary);
  // The reader may be closed before its summary is awaited.
  summary.catch(() => undefined);
  return {
    summary: () => summary,
    async *batches(batches) {
      thread.postMessage({ batches } satisfies ThreadRequest);
      for (let memory: ArrayBuffer | undefined; ;) {
        const { batch } = (await ask({ next: { memory } })) as { batch: PackedBatch | undefined };
        if (!batch) return;
        yield batch;
        memory = batch.numbers.buffer as ArrayBuffer;
      }
    },
    close: async () => void (await thread.terminate()),
  };
}

/**
 * The built service runs the compiled file. From source (tests, operator commands) the thread must
 * load tsx before it can load TypeScript.
 */
function startThread(workerData: ThreadData): Worker {
  const options = { workerData, resourceLimits: LIMITS };
  if (!__filename.endsWith('.ts')) return new Worker(join(__dirname, 'thread.js'), options);
  const modules = [require.resolve('tsx/cjs'), join(__dirname, 'thread.ts')];
  return new Worker(modules.map((name) => `require(${JSON.stringify(name)});`).join(''), {
    ...options,
    eval: true,
    execArgv: [],
  });
}

/** Sends one request at a time; the thread's next message is the response. */
function openConversation(thread: Worker): (order?: ThreadRequest) => Promise<ThreadResponse> {
  let waiting: { done: (answer: ThreadResponse) => void; fail: (error: Error) => void } | undefined;
  let ended: Error | undefined;
  const fail = (error: Error) => {
    ended = error;
    waiting?.fail(error);
  };
  thread.on('error', fail);
  thread.on('exit', () => fail(ended ?? new Error('the reading thread ended')));
  thread.on('message', (answer: ThreadResponse) => {
    if (!waiting) return fail(new Error('the reading thread sent a message without an order'));
    const { done, fail: reject } = waiting;
    waiting = undefined;
    const error = toError(answer);
    if (error) reject(error);
    else done(answer);
  });
  return (order) =>
    new Promise((done, fail) => {
      if (ended) return fail(ended);
      waiting = { done, fail };
      if (order) thread.postMessage(order, listTransferables(order));
    });
}

/** Memory that is transferred to the thread instead of being copied. */
const listTransferables = (order: ThreadRequest): ArrayBuffer[] =>
  'next' in order && order.next.memory ? [order.next.memory] : [];

function toError(answer: ThreadResponse): Error | undefined {
  if ('fault' in answer) return new Error(answer.fault);
  if ('unavailable' in answer) return new StorageUnavailable(answer.unavailable);
  if (!('problem' in answer)) return undefined;
  const { problem, headers } = answer;
  return headers ? new ColumnProblem(problem, headers) : new FileProblem(problem);
}
