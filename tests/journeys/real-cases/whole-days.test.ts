import {
  contract,
  facets,
  type Operation,
  type Schema,
} from '../../../src/platform/contract/contract';
import { parseEnd, parseInstant, parseLastMoment } from '../../../src/platform/time/zone';
import { createFixture, type Fixture } from '../../support/example';
import { findTable } from '../../support/example-bodies';
import { useWorld } from '../../support/use-world';

// A period is given in dates: its last day, and a second, count as a whole.

const world = useWorld({ clock: '2026-06-03T12:00:00Z' });
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
});

const isTime = (schema: Schema) => facets(schema).formats.has('date-time');
const ends = contract.operations.flatMap((operation) => [
  ...operation.parameters
    .filter(({ name, schema }) => /_(to|until)$/.test(name) && isTime(schema))
    .map(({ name, schema }) => ({ operation, name, schema, format: 'last-moment' })),
  ...listEnds(operation.body).map((end) => ({ operation, ...end, format: 'period-end' })),
]);

/** The fields of a body that end a period, at any depth. */
function listEnds(body: Schema | undefined): { name: string; schema: Schema }[] {
  return Object.entries(body ? facets(body).properties : {}).flatMap(([name, schema]) => [
    ...(/(^|_)to$/.test(name) && isTime(schema) ? [{ name, schema }] : []),
    ...listEnds(schema),
  ]);
}

test('every end of a period in the contract is read by one of the two readers of ends', () => {
  expect(new Set(ends.map(({ name }) => name))).toEqual(
    new Set(['created_at_to', 'next_action_at_to', 'ended_at_to', 'to']),
  );
  const wrong = ends.filter(({ schema, format }) => !facets(schema).formats.has(format));
  expect(wrong.map(({ operation, name }) => [operation.id, name])).toEqual([]);
});

test('whoever takes the end of a period takes a time zone', () => {
  const zoneless = ends.filter(
    ({ operation: { parameters, body } }) =>
      !parameters.some(({ name }) => name === 'time_zone') &&
      !(body && 'time_zone' in facets(body).properties),
  );
  expect(zoneless.map(({ operation }) => operation.id)).toEqual([]);
});

const NEW_YORK = 'America/New_York';

test.each([
  ['2026-06-01', 'UTC', '2026-06-01T23:59:59.999999Z'],
  ['2026-06-01', NEW_YORK, '2026-06-02T03:59:59.999999Z'],
  ['2026-06-01 +0200', NEW_YORK, '2026-06-01T21:59:59.999999Z'],
  ['2026-11-01', NEW_YORK, '2026-11-02T04:59:59.999999Z'], // 25 hours
  ['2026-03-08', NEW_YORK, '2026-03-09T03:59:59.999999Z'], // 23 hours
  ['2026-10-31', 'America/Havana', '2026-11-01T03:59:59.999999Z'], // 00:00 comes twice
  ['2026-12-31', 'UTC', '2026-12-31T23:59:59.999999Z'],
  ['2028-02-29', 'UTC', '2028-02-29T23:59:59.999999Z'],
  ['2026-06-01T12:30:15Z', 'UTC', '2026-06-01T12:30:15.999999Z'],
  ['2026-06-01 23:59:59', NEW_YORK, '2026-06-02T03:59:59.999999Z'],
  ['2026-06-01 23:59', 'UTC', '2026-06-01T23:59:59.999999Z'],
  ['2026-06-01 12:30', 'UTC', '2026-06-01T12:30:00.999999Z'],
  ['2026-06-01T12:30:15.250Z', 'UTC', '2026-06-01T12:30:15.250999Z'],
])('until %s in %s is until %s', (text, zone, last) => {
  expect(parseLastMoment(text, zone)).toBe(last);
});

test.each([
  ['2026-06-01', NEW_YORK, '2026-06-02T04:00:00.000Z'],
  ['2026-06-01 00:00:00', 'UTC', '2026-06-01T00:00:00.000Z'],
  ['2026-05-31 23:59:59', 'UTC', '2026-06-01T00:00:00.000Z'],
  ['2026-05-31 23:59', 'UTC', '2026-06-01T00:00:00.000Z'],
  ['2026-05-31T23:59:59.999Z', 'UTC', '2026-06-01T00:00:00.000Z'],
  ['2026-05-31T17:30:30Z', 'UTC', '2026-05-31T17:30:30.000Z'],
])('a period to %s in %s ends before %s', (text, zone, end) => {
  expect(parseEnd(text, zone)?.toISOString()).toBe(end);
});

test('days follow each other without a gap and without a moment that two have', () => {
  const wrong: string[] = [];
  for (const zone of [NEW_YORK, 'America/Havana', 'Asia/Kathmandu', 'Africa/Cairo', 'UTC'])
    for (let day = Date.UTC(2026, 0, 1); day < Date.UTC(2027, 0, 1); day += 86_400_000) {
      const [date, next] = [day, day + 86_400_000].map((at) =>
        new Date(at).toISOString().slice(0, 10),
      ) as [string, string];
      const first = parseInstant(next, zone)!.getTime();
      const last = new Date(first - 1).toISOString().replace('Z', '999Z');
      if (parseEnd(date, zone)!.getTime() !== first || parseLastMoment(date, zone) !== last)
        wrong.push(`${date} ${zone}`);
    }
  expect(wrong).toEqual([]);
});

const DAY = `created_at_from=2026-06-01&created_at_to=2026-06-01&time_zone=${NEW_YORK}`;
/** The last moment of that day in New York that is stored, and the first of the next. */
const [LAST, NEXT] = ['2026-06-02T03:59:59.999Z', '2026-06-02T04:00:00Z'];

const isList = ({ method, parameters }: Operation) => {
  const names = parameters.map(({ name }) => name);
  return method === 'get' && names.includes('fulltext') && names.includes('created_at_to');
};
const lists = contract.operations.filter(isList);
const findTableOfList = (operation: Operation): string =>
  operation.path.includes('{') ? `call_${operation.path.split('/').at(-1)}` : findTable(operation);

async function moveAll(at: string): Promise<void> {
  for (const table of new Set(lists.map(findTableOfList)))
    await world.sql(`UPDATE ${table} SET created_at = $2 WHERE company_id = $1`, [
      world.company.id,
      at,
    ]);
}

/** How many records each list has on that day, in JSON and in CSV. */
async function countLists(): Promise<[list: string, records: number, rows: number | undefined][]> {
  const counts: [string, number, number | undefined][] = [];
  for (const { id, path, parameters } of lists) {
    const url = path.slice('/api/v1/'.length).replace(/\{\w+\}/, String(fixture.ids.calls));
    const load = (query: string) => world.api('get', `${url}?${DAY}&columns=id${query}`);
    const hasCsv = parameters.some(({ name }) => name === 'format');
    const csv = hasCsv ? (await load('&format=csv')).text.trim().split('\n').length - 1 : undefined;
    counts.push([id, (await load('')).body.metadata.total_count, csv]);
  }
  return counts;
}

test('every list of a day, as CSV too, has what was created in its last moment', async () => {
  await moveAll(LAST);
  const last = await countLists();
  expect(last.filter(([, records, rows]) => rows !== undefined && rows !== records)).toEqual([]);
  expect(last.filter(([, records]) => records > 0).length).toBeGreaterThan(25);
  await moveAll(NEXT);
  expect((await countLists()).filter(([, ...counts]) => counts.some(Boolean))).toEqual([]);
});

interface Body {
  metadata: { total_count: number };
  totals: { calls: number };
}

test('the calls and the reports of a day have its last moment, and no more', async () => {
  const count = async (path: string, read: (body: Body) => number) =>
    read((await world.api('get', `${path}${DAY}`)).body);
  const counts = async (at: string) => {
    const values = [fixture.ids.calls, at];
    await world.sql('UPDATE calls SET created_at = $2, ended_at = $2 WHERE id = $1', values);
    return [
      await count('calls?', (body) => body.metadata.total_count),
      await count('calls/reports?', (body) => body.totals.calls),
      await count('calls/reports?category=day&', (body) => body.totals.calls),
      await count('calls/reports/grouped?group_by=buyer,day&', (body) => body.totals.calls),
    ];
  };
  expect(await counts(LAST)).toEqual([1, 1, 1, 1]);
  expect(await counts(NEXT)).toEqual([0, 0, 0, 0]);
});
