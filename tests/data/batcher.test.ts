import { createBatchers, type BatchWork } from '../../src/data/batcher';

/** Work whose batches end on request. */
function buildHeldWork(options: Pick<BatchWork<string, string>, 'at_once' | 'max_wait_ms'> = {}) {
  const batches: { items: readonly string[]; end: () => void }[] = [];
  const work: BatchWork<string, string> = {
    run: (items) =>
      new Promise((done) =>
        batches.push({ items, end: () => done(items.map((item) => item.toUpperCase())) }),
      ),
    toKey: (item) => item[0],
    ...options,
  };
  const add = createBatchers<string, string>()({}, 'kind', () => work);
  return { add, batches, items: () => batches.map(({ items }) => items) };
}
const turn = () => new Promise((done) => setImmediate(done));

test('what comes in together is one batch, and each gets its own result', async () => {
  const { add, batches, items } = buildHeldWork();
  const all = ['a', 'b', 'c'].map(add);
  expect(items()).toEqual([]);
  await turn();
  expect(items()).toEqual([['a', 'b', 'c']]);
  batches[0]!.end();
  expect(await Promise.all(all)).toEqual(['A', 'B', 'C']);
});

test('two batches run at once, and what comes meanwhile is the next', async () => {
  const { add, batches, items } = buildHeldWork();
  for (const item of ['a', 'b', 'c', 'd']) {
    void add(item);
    await turn();
  }
  expect(items()).toEqual([['a'], ['b']]);
  batches[1]!.end();
  await turn();
  expect(items()).toEqual([['a'], ['b'], ['c', 'd']]);
});

test('where only one batch may run at once, the next begins when it has ended', async () => {
  const { add, batches, items } = buildHeldWork({ at_once: 1 });
  for (const item of ['a', 'b', 'c']) {
    void add(item);
    await turn();
  }
  expect(items()).toEqual([['a']]);
  batches[0]!.end();
  await turn();
  expect(items()).toEqual([['a'], ['b', 'c']]);
});

test('of one key, one is in a batch, and what came after it does not wait for that batch', async () => {
  const { add, items } = buildHeldWork();
  void add('a1');
  void add('a2');
  await turn();
  void add('b');
  await turn();
  expect(items()).toEqual([['a1'], ['a2', 'b']]);
});

test('what waits too long is refused with 503, even while a batch hangs, and nothing else is', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const { add, batches, items } = buildHeldWork({ at_once: 1, max_wait_ms: 1_000 });
    const first = add('a');
    await turn();
    const late = expect(add('b')).rejects.toMatchObject({
      code: 'contended',
      status: 503,
      headers: { 'Retry-After': '1' },
    });
    jest.advanceTimersByTime(600);
    const next = add('c');
    jest.advanceTimersByTime(500);
    await late;
    batches[0]!.end();
    expect(await first).toBe('A');
    await turn();
    expect(items()).toEqual([['a'], ['c']]);
    batches[1]!.end();
    expect(await next).toBe('C');
  } finally {
    jest.useRealTimers();
  }
});

test('what has waited for another batch before is refused when its own time is over', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const { add } = buildHeldWork({ at_once: 1, max_wait_ms: 1_000 });
    void add('a');
    await turn();
    const before = performance.now() - 700;
    const refused: string[] = [];
    void add('b').catch(() => refused.push('b'));
    void add('c', before).catch(() => refused.push('c'));
    jest.advanceTimersByTime(400);
    await turn();
    expect(refused).toEqual(['c']);
  } finally {
    jest.useRealTimers();
  }
});
