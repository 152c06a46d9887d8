import { Context } from '../../src/data/context';

const tick = () => new Promise<void>((done) => setImmediate(done));

test('work has its own value, also beside other work', async () => {
  const context = new Context<string>();
  const values: (string | undefined)[] = [];
  const work = (name: string) =>
    context.run(name, async () => {
      for (let n = 0; n < 3; n++) {
        await tick();
        values.push(context.get() === name ? name : undefined);
      }
    });
  await Promise.all([work('a'), work('b'), context.run('outer', () => work('inner'))]);
  expect(values.toSorted()).toEqual([...'aaabbb', 'inner', 'inner', 'inner']);
  expect(context.get()).toBeUndefined();
});

test('a value is kept until the last work has ended, whatever else has failed', async () => {
  const context = new Context<string>();
  const long = context.run('long', async () => {
    for (let n = 0; n < 5; n++) await tick();
    return context.get();
  });
  const failing = context.run('failing', () => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
  expect(await long).toBe('long');
});

test('nothing is followed once no work runs', async () => {
  const context = new Context<string>();
  let later: Promise<string | undefined> | undefined;
  await context.run('ended', async () => {
    later = tick().then(() => context.get());
  });
  expect(await later).toBeUndefined();
  expect(await context.run('next', async () => context.get())).toBe('next');
});
