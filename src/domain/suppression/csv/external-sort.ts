import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';

/** Numbers that are sorted in memory; further ones are written to disk in sorted runs. */
const RUN_LENGTH = 1_000_000;
const WINDOW_LENGTH = 8_192;
const NUMBER_BYTES = Float64Array.BYTES_PER_ELEMENT;

export interface Sorter {
  add(number: number): void;
  /**
   * All numbers, ascending, without the first `skip`, window by window. Each window overwrites the
   * previous one. Can be read once.
   */
  sorted(skip?: number): Generator<Float64Array>;
  close(): void;
}

/**
 * Sorts any amount of numbers in little memory: sorted runs on disk are merged as they are read.
 * (Inserting numbers in order writes each page of the database's index once, not many times.) The
 * file is unlinked as soon as it is open, so that nothing is left of it when the process dies.
 */
export function createSorter(folder: string, runLength = RUN_LENGTH): Sorter {
  const buffer = new Float64Array(runLength);
  const runs: { start: number; length: number }[] = [];
  let [held, file] = [0, -1];
  const spill = () => {
    if (file < 0) file = openUnlinked(folder);
    const start = runs.reduce((sum, { length }) => sum + length, 0);
    const bytes = Buffer.from(buffer.sort().buffer);
    for (let offset = 0; offset < bytes.length;)
      offset += writeSync(
        file,
        bytes,
        offset,
        bytes.length - offset,
        start * NUMBER_BYTES + offset,
      );
    runs.push({ start, length: held });
    held = 0;
  };
  return {
    add: (number) => {
      buffer[held++] = number;
      if (held === runLength) spill();
    },
    *sorted(skip = 0) {
      const last = buffer.subarray(0, held).sort();
      const sources = [...runs.map((run) => readWindows(file, run)), [last][Symbol.iterator]()];
      yield* skipNumbers(skip, runs.length === 0 ? [last][Symbol.iterator]() : mergeRuns(sources));
    },
    close: () => {
      if (file >= 0) closeSync(file);
      file = -1;
    },
  };
}

function openUnlinked(folder: string): number {
  const path = join(folder, `${randomUUID()}.sort`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}

function* readWindows(
  file: number,
  { start, length }: { start: number; length: number },
): Generator<Float64Array> {
  const window = new Float64Array(WINDOW_LENGTH);
  for (let at = 0; at < length; at += WINDOW_LENGTH) {
    const some = window.subarray(0, Math.min(WINDOW_LENGTH, length - at));
    const bytes = Buffer.from(some.buffer, some.byteOffset, some.byteLength);
    for (let read = 0; read < bytes.length;) {
      const n = readSync(
        file,
        bytes,
        read,
        bytes.length - read,
        (start + at) * NUMBER_BYTES + read,
      );
      if (n === 0) throw new Error('the sorted run is shorter than it was written');
      read += n;
    }
    yield some;
  }
}

interface Head {
  value: number;
  window: Float64Array;
  at: number;
  rest: Iterator<Float64Array>;
}

/**
 * Merges sorted sources, with a heap of their next numbers. Always yields the same window: it must
 * be read before the next one is requested.
 */
function* mergeRuns(sources: Iterator<Float64Array>[]): Generator<Float64Array> {
  const heap: Head[] = [];
  for (const rest of sources) {
    const head: Head = { value: 0, window: new Float64Array(0), at: -1, rest };
    if (advance(head)) heap.push(head);
  }
  heap.sort((a, b) => a.value - b.value);
  const out = new Float64Array(WINDOW_LENGTH);
  let filled = 0;
  while (heap.length > 0) {
    const head = heap[0]!;
    out[filled++] = head.value;
    if (filled === WINDOW_LENGTH) {
      yield out;
      filled = 0;
    }
    if (advance(head)) siftDown(heap);
    else {
      const end = heap.pop()!;
      if (heap.length > 0) {
        heap[0] = end;
        siftDown(heap);
      }
    }
  }
  yield out.subarray(0, filled);
}

/** Moves to the next number; returns false at the end. */
function advance(head: Head): boolean {
  if (++head.at >= head.window.length) {
    const { value, done } = head.rest.next();
    if (done || value.length === 0) return false;
    head.window = value;
    head.at = 0;
  }
  head.value = head.window[head.at]!;
  return true;
}

function siftDown(heap: Head[]): void {
  const head = heap[0]!;
  for (let at = 0; ;) {
    let child = 2 * at + 1;
    if (child >= heap.length) return;
    if (child + 1 < heap.length && heap[child + 1]!.value < heap[child]!.value) child++;
    if (heap[child]!.value >= head.value) return;
    heap[at] = heap[child]!;
    heap[child] = head;
    at = child;
  }
}

function* skipNumbers(skip: number, source: Iterator<Float64Array>): Generator<Float64Array> {
  for (let left = skip; ;) {
    const { value, done } = source.next();
    if (done) return;
    if (left < value.length) yield value.subarray(left);
    left = Math.max(0, left - value.length);
  }
}
