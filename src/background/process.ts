import closeWithGrace from 'close-with-grace';
import { ConfigError } from '../config';
import { PreReleaseDatabase } from '../db/migrate';
import type { Deps } from '../deps';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How far apart the two halves of one Ctrl-C may come. */
const ECHO_MS = 1_000;
/** A process that is told to stop has ended within ten seconds. */
const LONGEST_STOP_MS = 9_500;
const FLUSH_MS = 500;

/** Runs `stop` when the process is told to end or a fault ends it; the log is written out before the process is gone. */
export function onStop({ log }: Deps, stop: () => Promise<void>): void {
  const flush = setInterval(() => log.flush(), FLUSH_MS);
  const { close } = closeWithGrace(
    { delay: LONGEST_STOP_MS, logger: undefined, skip: [...SIGNALS] },
    async ({ err }) => {
      if (err) log.fatal({ err }, 'stopping after a fault');
      clearInterval(flush);
      await stop();
      log.flush();
    },
  );
  for (const signal of SIGNALS) onSignal(signal, close);
}

/**
 * Ctrl-C under npm arrives twice, from the terminal and passed on by npm: the second is no second wish. One that comes later is, and ends the
 * process where it stands.
 */
function onSignal(signal: (typeof SIGNALS)[number], close: () => void): void {
  let first = 0;
  process.on(signal, () => {
    if (first === 0) close();
    else if (Date.now() - first > ECHO_MS) process.exit(1);
    first ||= Date.now();
  });
}

/** Says why the process could not start, and ends it. */
export function exitWith(error: unknown): never {
  process.stderr.write(
    `${error instanceof ConfigError ? error.message : explain(error as NodeJS.ErrnoException)}\n`,
  );
  process.exit(1);
}

function explain(error: NodeJS.ErrnoException & { port?: number }): string {
  if (error instanceof PreReleaseDatabase) return error.message;
  if (error.code === 'EADDRINUSE')
    return `Port ${error.port} is taken by another program. Stop it, or choose another: PORT=3001 npm start`;
  if (error.code === 'ECONNREFUSED')
    return `The database of DATABASE_URL cannot be reached: ${error.message}`;
  return error.stack ?? String(error);
}
