import type { Logger } from 'pino';
import type { Service, Command } from './service';
import { pause } from '../../platform/pause';

// The way from the service to this process: it asks for commands, and waits until there are some.

const WAIT_SECONDS = 25;
/** The wait, and time for the answer. */
const TIMEOUT_MS = (WAIT_SECONDS + 10) * 1000;
const PAUSE_MS = 2_000;

export interface CommandEdges {
  service: Pick<Service, 'listCommands'>;
  log: Logger;
  signal: AbortSignal;
}

/** Passes on each command once, as long as this process runs. */
export async function followCommands(
  { service, log, signal }: CommandEdges,
  carryOut: (command: Command) => void,
): Promise<void> {
  let after: number | undefined;
  while (!signal.aborted) {
    try {
      const options = { timeout_ms: TIMEOUT_MS, signal };
      for (const command of await service.listCommands(after, WAIT_SECONDS, options)) {
        if (after === undefined || command.id > after) carryOut(command);
        after = Math.max(after ?? 0, command.id);
      }
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error }, 'no commands from the service');
      await pause(PAUSE_MS, signal);
    }
  }
}
