import { fairPool as open } from '../../src/data/fair-share';

const fairPool = (size: number) => open(size, 6_000);

/** Work that ends on request. */
function buildHeldWork() {
  const ends: (() => void)[] = [];
  return {
    get running() {
      return ends.length;
    },
    work: () => new Promise<void>((done) => void ends.push(done)),
    endOne: async () => {
      ends.shift()!();
      await settled();
    },
  };
}
const settled = () => new Promise((done) => setImmediate(done));

async function send(turns: ReturnType<typeof fairPool>, company: bigint, many: number) {
  const holder = buildHeldWork();
  const all = Array.from({ length: many }, () => turns.openSlots(company)(holder.work));
  await settled();
  for (const promise of all) promise.catch(() => undefined);
  return Object.assign(holder, { all });
}

test('a company alone has half of the connections, and the rest waits in order', async () => {
  const a = await send(fairPool(8), 1n, 6);
  expect(a.running).toBe(4);
  await a.endOne();
  expect(a.running).toBe(4);
});

test('a company that comes has a quarter at once, and the first goes back to a quarter', async () => {
  const pool = fairPool(8);
  const a = await send(pool, 1n, 10);
  const b = await send(pool, 2n, 10);
  const c = await send(pool, 3n, 10);
  expect([a.running, b.running, c.running]).toEqual([4, 2, 2]);
  for (let n = 0; n < 2; n++) await a.endOne();
  expect(a.running).toBe(2);
  await a.endOne();
  expect(a.running).toBe(2);
});

test('a company that is left alone has half again', async () => {
  const pool = fairPool(8);
  const b = await send(pool, 2n, 1);
  const a = await send(pool, 1n, 10);
  expect(a.running).toBe(2);
  await b.endOne();
  expect(a.running).toBe(4);
});

test('the smallest pool runs one of each company', async () => {
  const pool = fairPool(1);
  const a = await send(pool, 1n, 2);
  const b = await send(pool, 2n, 2);
  expect([a.running, b.running]).toEqual([1, 1]);
});

test('work that fails gives its turn to the next', async () => {
  const turns = fairPool(1).openSlots(1n);
  const failing = turns(() => Promise.reject(new Error('a fault')));
  const next = turns(() => Promise.resolve('done'));
  await expect(failing).rejects.toThrow('a fault');
  await expect(next).resolves.toBe('done');
});

test('more than a thousand that wait are refused, and of others none', async () => {
  const pool = fairPool(8);
  const a = buildHeldWork();
  const all = Array.from({ length: 1_004 }, () =>
    pool
      .openSlots(1n)(a.work)
      .catch(() => undefined),
  );
  await expect(pool.openSlots(1n)(a.work)).rejects.toMatchObject({
    status: 429,
    code: 'too_many_at_once',
    headers: { 'Retry-After': '1' },
  });
  await expect(pool.openSlots(2n)(() => Promise.resolve('done'))).resolves.toBe('done');
  for (let n = 0; n < all.length; n++) await a.endOne();
  await Promise.all(all);
});

test('what waits for too long is refused, and never runs', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const a = await send(fairPool(1), 1n, 2);
    const refused = expect(a.all[1]).rejects.toMatchObject({ code: 'too_many_at_once' });
    jest.advanceTimersByTime(6_000);
    await refused;
    await a.endOne();
    expect(a.running).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
