import { NO_HINTS, readAll } from '../../../support/csv';

const [A, B] = [13105550123, 12125550145];

describe('the column of the numbers', () => {
  const column = async (content: string, hints = {}) => {
    const { layout } = await readAll(content, { hints: { ...NO_HINTS, ...hints } });
    return [layout.headers[layout.column], layout.has_header];
  };
  test('is the one that looks like telephone numbers', async () => {
    expect(await column('id,tel,name\n1,3105550123,Ann\n2,2125550145,Bob\n')).toEqual([
      'tel',
      true,
    ]);
  });
  test('is the one that is named, regardless of case and surrounding spaces', async () => {
    const two = 'Home Phone,Mobile\n3105550123,2125550145\n';
    expect(await column(two, { caller_id_column_name: 'home phone ' })).toEqual([
      'Home Phone',
      true,
    ]);
    expect(await column(two)).toEqual(['Mobile', true]);
  });
  test('is called by its position in a file without a header row, and no row is lost', async () => {
    expect(await column('3105550123,Ann\n2125550145,Bob\n')).toEqual(['column_1', false]);
    expect((await readAll('Ann;3105550123\nBob;2125550145\n')).numbers.sort()).toEqual([B, A]);
    expect((await readAll('3105550123\n')).total).toBe(1);
  });
  test('is called as headers say; a first row with other cells is then no header', async () => {
    const hints = { headers: ['tel', 'who'], caller_id_column_name: 'tel' };
    expect(await column('3105550123,Ann\n', hints)).toEqual(['tel', false]);
    expect(await column('TEL,Who\n3105550123,Ann\n', hints)).toEqual(['tel', true]);
  });
  test('a file with only a header has no numbers', async () => {
    expect((await readAll('phone,name\n')).total).toBe(0);
    expect(
      (
        await readAll('phone,name\n', {
          hints: { ...NO_HINTS, caller_id_column_name: 'phone' },
        })
      ).total,
    ).toBe(0);
  });

  test.each<[string, string, { caller_id_column_name?: string }, RegExp]>([
    [
      'that does not exist',
      'a,b\n3105550123,x\n',
      { caller_id_column_name: 'phone' },
      /No column is called phone\. The columns are a, b\./,
    ],
    [
      'that exists twice',
      'phone,phone\n3105550123,2125550145\n',
      { caller_id_column_name: 'phone' },
      /2 columns are called phone/,
    ],
    [
      'with several candidates',
      'a,b\n3105550123,2125550145\n',
      {},
      /Several columns look like telephone numbers: a, b\. Name the right one/,
    ],
    [
      'without a candidate',
      'a,b\nx,y\n',
      {},
      /None of the columns looks like telephone numbers: a, b\. Name the right one/,
    ],
  ])('%s fails the import, and the columns are reported', async (_, content, hints, message) => {
    const failure = await readAll(content, { hints: { ...NO_HINTS, ...hints } }).catch(
      (error: unknown) => error,
    );
    expect((failure as Error).message).toMatch(message);
    expect((failure as { headers: string[] }).headers).toHaveLength(2);
  });
});
