import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { repeat } from '../../src/data/jobs/loop';
import { captureLog } from '../support/captured-log';
import { eventually } from '../support/engine-process';
import { useWorld } from '../support/use-world';

// Errors are logged with what failed and where, and without the values of anybody's data.

const captured = captureLog();
const world = useWorld({ log: captured.log });
beforeEach(() => captured.clear());

const NAME = 'Annabel "Ann" Quux';
const NUMBER = '+14155550133';
const TRACES = /quux|ann\b|annabel|415.?555.?0133|5550133/i;

/** The logged form of the error that the work throws. */
async function readLoggedError(work: () => unknown): Promise<Record<string, unknown>> {
  captured.clear();
  try {
    await work();
  } catch (error) {
    captured.log.error({ err: error }, 'it failed');
  }
  expect(captured.text()).not.toMatch(TRACES);
  return captured.lines()[0]!.err as Record<string, unknown>;
}

const prisma = () => world.deps.tenants.of(world.company.id).prisma;

describe('of an error', () => {
  test('of PostgreSQL: SQLSTATE, table, constraint and place, but no row', async () => {
    const insert = () =>
      world.sql(
        `INSERT INTO users (company_id, uuid, email, name)
        VALUES ($1, gen_random_uuid(), $2, $3)`,
        [world.company.id, 'annabel@example.com', NAME],
      );
    await insert();
    expect(await readLoggedError(insert)).toMatchObject({
      type: 'DatabaseError',
      code: '23505',
      table: 'users',
      message: expect.stringContaining('duplicate key value violates unique constraint users_'),
      stack: expect.stringContaining('log.test.ts'),
    });
    expect(
      await readLoggedError(() =>
        world.sql('INSERT INTO users (company_id, email, name) VALUES (NULL, $1, $2)', [
          NUMBER,
          NAME,
        ]),
      ),
    ).toMatchObject({
      code: '23502',
      column: expect.any(String),
      message: expect.stringMatching(/^null value in column \w+ of relation users violates/),
    });
  });

  test.each([
    ['SELECT $1::text::integer', [NAME]],
    ['SELECT $1::text::json', [`{${NAME}`]],
    ['SELECT $1::text::timestamptz', [NAME]],
    ['SELECT $1::text::smallint', ['14155550133']],
    ["SELECT 'x' ~ $1", [`(${NAME}`]],
    [`SELECT '${NUMBER}' || "${NUMBER}"`, []],
    [`DO $$ BEGIN RAISE 'no number ${NUMBER}' USING DETAIL = 'Quux', HINT = 'Quux'; END $$`, []],
  ])('of PostgreSQL in %s: no value', async (text, values) => {
    expect(await readLoggedError(() => world.sql(text, values))).toMatchObject({
      code: expect.stringMatching(/^\w{5}$/),
      severity: 'ERROR',
    });
  });

  test('of Prisma: what is wrong, but not the arguments', async () => {
    const data = { uuid: '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001', email: 'quux@example.com' };
    const create = (more: object) => prisma().user.create({ data: { ...data, ...more } as never });
    expect(await readLoggedError(() => create({ name: { first: NAME } }))).toMatchObject({
      type: 'PrismaClientValidationError',
      message: expect.stringContaining('Argument `name`'),
    });
    await create({ name: NAME });
    expect(await readLoggedError(() => create({ name: NAME }))).toMatchObject({
      type: 'PrismaClientKnownRequestError',
      code: 'P2002',
      message: expect.stringContaining('Unique constraint failed'),
    });
  });

  test('of Node.js: code, call and address', async () => {
    const away = new Client({ host: '127.0.0.1', port: 1 });
    expect(await readLoggedError(() => away.connect())).toMatchObject({
      code: 'ECONNREFUSED',
      syscall: 'connect',
      address: '127.0.0.1',
      port: 1,
    });
    expect(
      await readLoggedError(() => (undefined as never as { email: string }).email),
    ).toMatchObject({
      type: 'TypeError',
      message: 'Cannot read properties of undefined (reading email)',
    });
    await readLoggedError(() => JSON.parse(`{"name": ${NAME}`));
    await readLoggedError(() => new URL(`http://${NAME}`));
    await readLoggedError(() => decodeURIComponent('%'));
  });

  test('its causes, as deep as they go, and nothing of what is not an error', async () => {
    const inner = Object.assign(new Error(`Quux <quux@example.com> at (415) 555-0133 "${NAME}"`), {
      code: 'E_INNER',
      recipient: NUMBER,
    });
    const both = new AggregateError([inner, new Error(`'${NAME}'`)], 'both failed', {
      cause: inner,
    });
    const { message } = inner;
    inner.message = message.replace('Quux ', '');
    inner.stack = inner.stack!.replace(message, inner.message);
    expect(await readLoggedError(() => Promise.reject(both))).toMatchObject({
      type: 'AggregateError',
      message: 'both failed',
      causes: [{ code: 'E_INNER' }, { code: 'E_INNER' }, { message: '***' }],
    });
    for (const thrown of [NUMBER, { phone: NUMBER, name: NAME }, null, 4_155_550_133, [NAME]])
      expect(await readLoggedError(() => Promise.reject(thrown as never))).toBeDefined();
    const circular = new Error('round');
    circular.cause = circular;
    expect(await readLoggedError(() => Promise.reject(circular))).toMatchObject({
      message: 'round',
    });
  });
});

test('a loop in the background logs its failures in the same way', async () => {
  const loop = repeat(captured.log, {
    work: () => world.sql('SELECT $1::text::integer', [NAME]).then(() => false),
    every_ms: 5,
    pause_ms: 5,
    failure: 'a loop failed',
  });
  await eventually(() => captured.text().includes('a loop failed'));
  await loop.stop();
  expect(captured.lines()[0]).toMatchObject({ msg: 'a loop failed', err: { code: '22P02' } });
  expect(captured.text()).not.toMatch(TRACES);
});

test('the log of our own PostgreSQL has neither values nor statements', async () => {
  const file = join(process.env.TRUNKLINE_TEST_FOLDER!, 'postgres/postgres.log');
  expect(existsSync(file)).toBe(true);
  await expect(world.sql('SELECT $1::text::integer', ['Wilhelmina'])).rejects.toThrow('Wilhelmina');
  await expect(world.sql(`SELECT 1 / 0 AS "Wilhelmina"`)).rejects.toThrow('zero');
  await expect(
    world.sql(`DO $$ BEGIN RAISE WARNING 'Wilhelmina'; RAISE 'Wilhelmina'; END $$`),
  ).rejects.toThrow('Wilhelmina');
  const settings = await world.sql<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name LIKE 'log\\_%' AND setting IN ('terse', '0')`,
  );
  expect(settings.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['log_error_verbosity', 'log_parameter_max_length']),
  );
  expect(readFileSync(file, 'utf8')).toContain('database system is ready');
  expect(readFileSync(file, 'utf8')).not.toContain('Wilhelmina');
});
