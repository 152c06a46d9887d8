import { projection as buyers } from '../../src/domain/buyers/buyers-columns';
import { listFields, auditedColumns, type Projection } from '../../src/data/projection/projection';
import { touchedFields } from '../../src/data/projection/write-log';
import { writeTemplate, type WriteShape } from '../../src/data/projection/write';

// Statements that write a record, compiled from its projection.

const caps = { alias: 'l', table: 'call_limits', owner: 'buyer_id' };
const listTouched = (write: Parameters<typeof touchedFields>[1]) =>
  touchedFields(
    buyers,
    write,
    listFields(buyers).map(({ name }) => name),
  ).map(({ name }) => name);

test('a column is touched by what its SQL names, also in the joins that it needs', () => {
  expect(listTouched({ columns: ['name'] })).toEqual(['name', 'context_menu_name']);
  expect(listTouched({ columns: ['record_token_filter_data'] })).toEqual([
    'record_token_filter_id',
    'record_token_filter_data_count',
    'record_token_filter_data',
  ]);
  expect(listTouched({ columns: [], computed: { paused_by_user_id: 'NULL' } })).toEqual([
    'paused_by_user_id',
  ]);
  // The zone of the caps says which hours and which conversion are current.
  const byZone = listTouched({ columns: [], parts: [{ ...caps, columns: ['zone'] }] });
  expect(byZone).toEqual(expect.arrayContaining(['bid_price', 'attempt_hourly_limit']));
  expect(byZone).not.toContain('attempt_daily_limit');
});

test('a column whose name begins like another one is not touched by that', () => {
  expect(listTouched({ columns: ['number'] })).not.toContain('display_service_number_id');
  expect(listTouched({ columns: ['time'] })).toEqual([]);
});

test('every column that the log compares names the alias of what it is read from', () => {
  const constant = /^'[^']*'$/;
  for (const { name, on_request: isOnRequest } of listFields(buyers)) {
    // A sum that is read only where it is named, and never written.
    if (isOnRequest) continue;
    const column = (buyers.columns as Record<string, true | string>)[name]!;
    if (column === true || constant.test(column)) continue;
    expect([name, /\b(?:t|l|h|c)\.\w/.test(column)]).toEqual([name, true]);
  }
});

const bindWrite = (projection: Projection, shape: Partial<WriteShape> = {}) => {
  const any = new Proxy({}, { has: () => true, get: (_, name) => name });
  return writeTemplate(projection, { columns: ['name'], key: 'id', selection: {}, ...shape })(any);
};

test('values are parameters, and the row is taken only if it is free and as it was', () => {
  const { text, values } = bindWrite(buyers, {
    guarded: true,
    compared: auditedColumns(buyers),
    parts: [{ ...caps, columns: ['attempt_daily_limit'] }],
  });
  expect(values).toEqual(expect.arrayContaining(['row_name', 'l_attempt_daily_limit', 'if_match']));
  expect(text).toContain('FOR NO KEY UPDATE SKIP LOCKED');
  expect(text).toContain('t.ctid = (SELECT seen.ctid');
  expect(text).not.toMatch(/\{\w+\}/);
});

test('other columns, parts and guards are other statements', () => {
  const shapes: Partial<WriteShape>[] = [
    {},
    { columns: ['number'] },
    { guarded: true },
    { compared: ['name'] },
    { key: 'uuid' },
    { computed: { paused_at: 'NULL' } },
    { computed: { paused_at: 't.paused_at' } },
    { parts: [{ ...caps, columns: ['zone'] }] },
    { selection: { grid: true } },
  ];
  const texts = shapes.map((shape) => bindWrite(buyers, shape).text);
  expect(new Set(texts).size).toBe(shapes.length);
});

test('a projection that reads what is written is refused: it would see the old rows', () => {
  const reading = {
    ...buyers,
    columns: { ...buyers.columns, number: '(SELECT min(x.number) FROM buyers x)' },
  } as unknown as Projection;
  expect(() => bindWrite(reading, { columns: ['email'] })).toThrow('Buyer reads buyers');
  const ofCaps = {
    ...buyers,
    columns: { ...buyers.columns, number: '(SELECT min(x.zone) FROM call_limits x)' },
  } as unknown as Projection;
  const parts = [{ ...caps, columns: ['zone'] }];
  expect(() => bindWrite(ofCaps, { columns: ['email'], parts })).toThrow('reads call_limits');
});
