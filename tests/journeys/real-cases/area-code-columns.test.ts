import { readAll, NO_HINTS } from '../../support/csv';
import { buildSuppressionRequests, finished, loadNumbers } from '../../support/imports';
import { useWorld } from '../../support/use-world';

// The National Do Not Call Registry has the area code and the number in two columns.

const world = useWorld({ jobs: true });
const { api, upload } = buildSuppressionRequests(() => world);
const NUMBERS = [13055550101, 13055550102, 17865550103];
const ROWS = '305,5550101\n305,5550102\n786,5550103\n';

test.each([
  ['without headers', ROWS],
  ['with headers', `area_code,phone\n${ROWS}`],
  ['with hyphens', ROWS.replaceAll('555', '555-')],
  ['with tabs', ROWS.replaceAll(',', '\t')],
  ['with other columns', `id,area,local,name\n${ROWS.replace(/^(.+)$/gm, '7,$1,Ann')}`],
  ['as formulas', ROWS.replace(/(\d+),(\d+)/g, '="$1",="$2"')],
  ['as floats', ROWS.replace(/(\d+),(\d+)/g, '$1.0,$2.0')],
])('the two columns are one number: %s', async (_, content) => {
  const { numbers, rejected, total } = await readAll(content, { size: 10 });
  expect([numbers, rejected, total]).toEqual([NUMBERS, [], 3]);
});

test.each(['area,local', 'Area + Local', 'local', 'area'])(
  'the columns may be named: %s',
  async (name) => {
    const hints = { ...NO_HINTS, caller_id_column_name: name };
    const content = `area,local,office\n${ROWS.replace(/^(.+)$/gm, '$1,2125550100')}`;
    expect((await readAll(content, { hints, size: 10 })).numbers).toEqual(NUMBERS);
  },
);

test('columns with whole numbers are left alone', async () => {
  const content = 'code,short,phone\n305,5550101,2125550145\n305,5550102,2125550146\n';
  expect((await readAll(content)).numbers).toEqual([12125550145, 12125550146]);
});

test('a row that has no number together is rejected by name', async () => {
  const { numbers, rejected } = await readAll(`area,local\n${ROWS}305,555\n`, { size: 10 });
  expect([numbers, rejected]).toEqual([
    NUMBERS,
    [{ line: 5, caller_id: '305555', reason: 'is not a possible telephone number' }],
  ]);
});

test('a list shows the columns under names that it takes for later files', async () => {
  const res = await upload('buyer_suppressions', `area,local\n${ROWS}`, { name: 'FTC' });
  const { id } = res.body.buyer_suppression;
  const list = await finished(api, `buyer_suppressions/${id}`);
  expect(list).toMatchObject({ blocked: 3, caller_id_column_name: 'area,local' });
  await api('put', `buyer_suppressions/${id}`, {
    body: { caller_id_column_name: list.caller_id_column_name },
  });
  const later = await upload('buyer_suppression_files', 'area,local\n305,5550104\n', {
    buyer_suppression_id: String(id),
  });
  await finished(api, `buyer_suppression_files/${later.body.buyer_suppression_file.id}`);
  expect(await loadNumbers(api, id)).toEqual(
    [13055550101, 13055550102, 13055550104, 17865550103].map((number) => `+${number}`),
  );
});
