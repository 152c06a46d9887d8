import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ColumnProblem } from './layout';
import { FileProblem } from './text';
import type { Answer, Order, PackedBatch, Summary, ThreadData } from './thread';

/** A file that is read on another thread. Its methods throw FileProblem for what is wrong with the file. */
export interface ImportReader {
  /** Waits until all of it has been read. */
  summary(): Promise<Summary>;
  /** The batches after the first `skip` rows; only after `summary`. */
  batches(from: { skip: number; size: number }): AsyncGenerator<PackedBatch>;
  close(): Promise<void>;
}

/** Enough for the longest row; a file that wants more is at fault and must not take the process with it. */
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 6 };

export function openReader(data: ThreadData): ImportReader {
  const thread = startThread(data);
  const ask = conversation(thread);
  const summary = ask().then((answer) => (answer as { summary: Summary }).summary);
  // It may be closed before anybody asks.
  summary.catch(() => undefined);
  return {
    summary: () => summary,
    async *batches(batches) {
      thread.postMessage({ batches } satisfies Order);
      for (;;) {
        const { batch } = (await ask('next')) as { batch: PackedBatch | undefined };
        if (!batch) return;
        yield batch;
      }
    },
    close: async () => void (await thread.terminate()),
  };
}

/** From the built service the thread is a file; from source (tests, the operator's commands) TypeScript must be taught to it first. */
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

/** One question at a time: the answer is the thread's next message. */
function conversation(thread: Worker): (order?: Order) => Promise<Answer> {
  let waiting: { done: (answer: Answer) => void; fail: (error: Error) => void } | undefined;
  let ended: Error | undefined;
  const fail = (error: Error) => {
    ended = error;
    waiting?.fail(error);
  };
  thread.on('error', fail);
  thread.on('exit', () => fail(ended ?? new Error('the reading thread ended')));
  thread.on('message', (answer: Answer) => {
    if (!waiting) return fail(new Error('the reading thread spoke out of turn'));
    const { done, fail: refuse } = waiting;
    waiting = undefined;
    if ('problem' in answer)
      refuse(
        answer.headers
          ? new ColumnProblem(answer.problem, answer.headers)
          : new FileProblem(answer.problem),
      );
    else if ('fault' in answer) refuse(new Error(answer.fault));
    else done(answer);
  });
  return (order) =>
    new Promise((done, refuse) => {
      if (ended) return refuse(ended);
      waiting = { done, fail: refuse };
      if (order) thread.postMessage(order);
    });
}
