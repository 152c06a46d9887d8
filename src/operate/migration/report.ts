import { cutText } from '../../platform/storable-text';
import { closeSync, constants, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { StartError } from '../../platform/start-error';
import { continueFile, createNewFile } from '../../platform/storage/new-file';

// The report of a migration as CSV: one line for each thing that is not here as it was there.

export interface Finding {
  resource: string;
  /** Empty for the resource as a whole. */
  old_id: string;
  field: string;
  done: string;
}

export interface Report {
  add(finding: Finding): void;
  /** Number of lines about records. */
  readonly count: number;
  close(): Promise<void>;
}

const HEADER = ['resource', 'old_id', 'field', 'done'];

/**
 * Begins a report, or continues that of an interrupted run. The report of an earlier run is
 * replaced. Throws StartError if another file or a link has the name.
 */
export function openReport(file: string, { is_resumed }: { is_resumed: boolean }): Report {
  const hasReport = isReport(file);
  if (hasReport && !is_resumed) rmSync(file);
  const isContinued = hasReport && is_resumed;
  const stream = isContinued ? continueFile(file) : createNewFile(file);
  if (!isContinued) stream.write(formatLine(HEADER));
  let count = 0;
  return {
    add({ resource, old_id, field, done }) {
      if (old_id !== '') count++;
      stream.write(formatLine([resource, old_id, field, done]));
    },
    get count() {
      return count;
    },
    close: async () => {
      stream.end();
      await finished(stream);
    },
  };
}

/** False if there is no file. */
function isReport(file: string): boolean {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const head = Buffer.from(formatLine(HEADER));
  const start = Buffer.alloc(head.length);
  try {
    const handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (fstatSync(handle).isFile()) readSync(handle, start, 0, start.length, 0);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (code !== 'ELOOP') throw error;
  }
  if (start.equals(head)) return true;
  throw new StartError(`${file} is there already, and is no report: choose another name.`);
}

const formatLine = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\n`;

const MAX_CELL_CHARS = 1_000;
/** Control characters in text of the other service; cells may contain lines and tabs. */
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** A spreadsheet must not take text of the other service for a formula. */
const cell = (whole: string): string => {
  const text = cutText(whole, MAX_CELL_CHARS).replace(CONTROL, '\u{fffd}');
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
