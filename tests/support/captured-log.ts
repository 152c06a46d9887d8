import type { Logger } from 'pino';
import { createLog } from '../../src/platform/log';

export interface CapturedLog {
  log: Logger;
  text(): string;
  lines(): Record<string, unknown>[];
  clear(): void;
}

/** The log of the process, as it is written, but kept in memory. */
export function captureLog(level = 'trace'): CapturedLog {
  let output = '';
  return {
    log: createLog(level, { write: (line) => void (output += line) }),
    text: () => output,
    lines: () =>
      output
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    clear: () => void (output = ''),
  };
}
