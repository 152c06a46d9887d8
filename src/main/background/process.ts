import closeWithGrace from 'close-with-grace';
import type { Config } from '../../platform/config';
import { contract } from '../../platform/contract/contract';
import type { Deps } from '../../domain/deps';
import { StartError } from '../../platform/start-error';
import { stopTracing, type TracingOptions } from '../../platform/telemetry/tracing';

export const toTracingOptions = ({ traces }: Config): TracingOptions => ({
  ...traces,
  version: contract.document.info.version,
});

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof SIGNALS)[number];
/** One Ctrl-C under npm arrives twice within this time. */
const SIGNAL_DEBOUNCE_MS = 1_000;
/** A process ends within ten seconds of the first signal. */
const STOP_TIMEOUT_MS = 9_500;
const FLUSH_MS = 500;

/**
 * Runs `stop` when one of the signals, an unhandled error, or a call of the returned function ends
 * the process; the log is flushed before the process exits.
 */
export function onStop(
  { log }: Pick<Deps, 'log'>,
  stop: () => Promise<void>,
  signals: readonly Signal[] = SIGNALS,
): () => void {
  const flush = setInterval(() => log.flush(), FLUSH_MS);
  const { close } = closeWithGrace(
    { delay: STOP_TIMEOUT_MS, logger: undefined, skip: [...SIGNALS] },
    async ({ err }) => {
      if (err) log.fatal({ err }, 'stopping after a fault');
      clearInterval(flush);
      await stop();
      await stopTracing();
      log.flush();
    },
  );
  let closing = false;
  const closeOnce = () => {
    if (!closing) close();
    closing = true;
  };
  for (const signal of signals) onSignal(signal, closeOnce);
  return closeOnce;
}

/**
 * Ctrl-C under npm arrives twice: from the terminal and from npm. Only a signal that comes later
 * counts as a second one, and ends the process at once.
 */
function onSignal(signal: Signal, close: () => void): void {
  let first = 0;
  process.on(signal, () => {
    if (first === 0) close();
    else if (Date.now() - first > SIGNAL_DEBOUNCE_MS) process.exit(1);
    first ||= Date.now();
  });
}

/** Prints why the process could not start, and ends it. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${formatError(error)}\n`);
  process.exit(1);
}

/** The sentence of a known reason; otherwise the stack of a fault of the program. */
function formatError(error: unknown): string {
  if (error instanceof StartError) return error.message;
  return (error instanceof Error && error.stack) || String(error);
}
