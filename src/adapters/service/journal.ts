import { mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeNewFileSync } from '../../platform/storage/new-file';
import { parseForeignJson } from '../../platform/storable-text';

// The file of what the service has not answered yet, and of commands that must not be carried out
// twice: so that neither is lost when this process ends. A line is added before the deed.

/** A request that waits for its answer; those of one call are sent in their order. */
export interface Pending {
  /** The call, or the command. */
  of: string;
  path: string;
  body: object;
}

type Line = { add: number; pending: Pending } | { remove: number } | { carried: number };

/** Commands are given for minutes: older ones do not come again. */
const MAX_CARRIED = 1_000;

export interface Journal {
  /** Left by the process before, the earliest first. */
  left: [number, Pending][];
  add(pending: Pending): number;
  remove(id: number): void;
  /** True the first time; then the command was carried out before. */
  carry(commandId: number): boolean;
}

/** Opens the file, and leaves out of it what is done. */
export function openJournal(file: string): Journal {
  mkdirSync(dirname(file), { recursive: true });
  const waiting = new Map<number, Pending>();
  const carried = new Set<number>();
  for (const line of readLines(file)) {
    if ('add' in line) waiting.set(line.add, line.pending);
    else if ('remove' in line) waiting.delete(line.remove);
    else carried.add(line.carried);
  }
  const left = [...waiting];
  const kept: Line[] = [
    ...[...carried].slice(-MAX_CARRIED).map((id) => ({ carried: id })),
    ...left.map(([id, pending]) => ({ add: id, pending })),
  ];
  // A crash leaves the old file or the new one.
  rmSync(`${file}.new`, { force: true });
  writeNewFileSync(`${file}.new`, kept.map(formatLine).join(''));
  renameSync(`${file}.new`, file);
  const descriptor = openSync(file, 'a');
  const write = (line: Line) => void writeSync(descriptor, formatLine(line));
  let last = Math.max(0, ...left.map(([id]) => id));
  return {
    left,
    add: (pending) => {
      last += 1;
      write({ add: last, pending });
      return last;
    },
    remove: (id) => write({ remove: id }),
    carry: (commandId) => {
      if (carried.has(commandId)) return false;
      carried.add(commandId);
      write({ carried: commandId });
      return true;
    },
  };
}

const formatLine = (line: Line): string => `${JSON.stringify(line)}\n`;

/** A line that a crash has cut is left out. */
function readLines(file: string): Line[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    const parsed = parseForeignJson(line);
    return parsed ? [parsed as Line] : [];
  });
}
