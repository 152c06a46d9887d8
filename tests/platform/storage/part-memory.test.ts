import { PartMemory } from '../../../src/platform/storage/s3-write';
import { StorageUnavailable } from '../../../src/platform/storage/storage';
import { createGate } from '../../support/engine-process';

test('uploads have no more in memory together than is allowed, and take turns in order', async () => {
  const memory = new PartMemory(10);
  const began: string[] = [];
  const first = createGate();
  const run = (name: string, bytes: number, until = Promise.resolve()) =>
    memory.with(bytes, 60_000, () => {
      began.push(name);
      return until;
    });
  const all = [run('a', 6, first.opened), run('b', 6), run('c', 1), run('d', 10)];
  await Promise.resolve();
  expect(began).toEqual(['a']);
  first.open();
  await Promise.all(all);
  expect(began).toEqual(['a', 'b', 'c', 'd']);
});

test('an upload does not wait for ever, and gives its turn to the next; a failed one ends', async () => {
  const memory = new PartMemory(10);
  const first = createGate();
  const running = memory.with(6, 60_000, () => first.opened);
  const late = memory.with(8, 1, () => Promise.resolve());
  const small = memory.with(2, 60_000, () => Promise.resolve('small'));
  await expect(late).rejects.toThrow(StorageUnavailable);
  expect(await small).toBe('small');
  first.open();
  await running;
  await expect(memory.with(10, 60_000, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
  expect(await memory.with(10, 60_000, () => Promise.resolve('all'))).toBe('all');
});
