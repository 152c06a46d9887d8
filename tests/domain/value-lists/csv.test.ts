import { softswitch } from '../../support/softswitch';

// The CSV of a value list is made for spreadsheets, and for this API.

const on = softswitch('2026-06-01T16:00:00Z');

test('runs no formula in a spreadsheet, and reads back as it was', async () => {
  const values = [
    '=hyperlink("http://evil.example";=x)',
    '@sum(1)',
    '+1+cmd',
    '+13105550188',
    '-5',
  ];
  const { value_list: list } = await on.ok('post', 'value_lists', { name: 'Formulas', values });
  const { api } = on.world.company;
  const { text } = await api('get', `value_lists/${list.id}/values.csv`);
  const lines = text.trim().split(/\r?\n/);
  expect(lines[0]).toBe('value');
  expect(lines.slice(1).toSorted()).toEqual(
    [
      `"'=hyperlink(""http://evil.example"";'=x)"`,
      "'@sum(1)",
      "'+1+cmd",
      '+13105550188',
      '-5',
    ].toSorted(),
  );
  const form = { name: 'Again', import_file: Buffer.from(text) };
  const response = await api('post', 'value_lists', { form });
  expect(response.status).toBe(201);
  const shown = await api('get', `value_lists/${response.body.value_list.id}/values?root=false`);
  expect(shown.body.toSorted()).toEqual(values.toSorted());
});
