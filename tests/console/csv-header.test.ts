import { loadClientModule } from '../support/client-module';

const { readHeader } = loadClientModule<{ readHeader: (text: string) => string[] }>(
  'views/csv-header.ts',
);

describe('the columns of a file that is uploaded', () => {
  test.each([
    ['name,phone\nAnn,2135550101', ['name', 'phone']],
    ['\uFEFFname;"phone; mobile"\r\n', ['name', 'phone; mobile']],
    ['name\tphone', ['name', 'phone']],
  ])('are the names of its first line: %j', (text, names) => {
    expect(readHeader(text)).toEqual(names);
  });

  test.each(['phone\n2135550101', '2135550101,Ann\n', ''])(
    'are not offered where there is nothing to choose, or no names: %j',
    (text) => {
      expect(readHeader(text)).toEqual([]);
    },
  );
});
