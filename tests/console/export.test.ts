import { describeNouns } from '../../src/console/describe-nouns';
import { hideMoney } from '../../src/console/client/visible-contract';
import type { NounContract } from '../../src/console/noun-contract';
import { loadClientModule } from '../support/client-module';

// Files for spreadsheets: the titles of the tables, and cells that a spreadsheet reads as what
// they are.

interface Column {
  name: string;
}
type Row = Record<string, string>;
interface Layout {
  columns: readonly (string | Column)[];
}

const { createCsvReader, toLine } = loadClientModule<{
  createCsvReader: () => (piece: string) => string[][];
  toLine: (cells: readonly string[]) => string;
}>('table/csv.ts');
const { listExported, titleCell, formatCell } = loadClientModule<{
  listExported: (list: { layout: Layout; noun: NounContract; columns: Column[] }) => Column[];
  titleCell: (layout: Layout, noun: NounContract, column: Column) => string;
  formatCell: (noun: NounContract, column: Column, row: Row) => string;
}>('table/export.ts');
const { layOutCalls } = loadClientModule<{ layOutCalls: (me: object) => Layout }>(
  'calls/calls-table.tsx',
);

test('CSV is read however it is cut into pieces', () => {
  const text = 'a,b\r\n"x, ""y""\nz",\r\n,"1"\r\n';
  const rows = [
    ['a', 'b'],
    ['x, "y"\nz', ''],
    ['', '1'],
  ];
  for (let size = 1; size <= text.length; size++) {
    const read = createCsvReader();
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, n) =>
      text.slice(n * size, (n + 1) * size),
    );
    expect(pieces.flatMap(read)).toEqual(rows);
  }
});

test('no spreadsheet runs a cell as a formula; numbers stay numbers', () => {
  expect(toLine(['=1+1', '-2.5', '+12125550123', '@x', 'a"b', "'=1+1"])).toBe(
    `'=1+1,-2.5,+12125550123,'@x,"a""b",'=1+1\r\n`,
  );
});

const contract = describeNouns();
const owner = { team_ids: null, visible_money: ['revenue', 'payout'] as const };
const publisher = { team_ids: [1], visible_money: ['payout'] as const };
const buyer = { team_ids: [1], visible_money: ['revenue'] as const };

const listTitles = (me: typeof owner | typeof publisher | typeof buyer): string[] => {
  const noun = hideMoney(contract, me).nouns.calls!;
  const layout = layOutCalls(me);
  return listExported({ layout, noun, columns: [] }).map((column) =>
    titleCell(layout, noun, column),
  );
};

test('a file of calls has the columns that people expect, with units in its headings', () => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect(listTitles(owner)).toEqual([
    ...['Call', 'Call UUID', 'Direction', `Started (${zone})`, 'Caller', 'Number called'],
    ...['Source', 'Sub-ID', 'Offer', 'Buyer', 'Number of the buyer', 'Status', 'Duration'],
    ...['Connected', 'Paid by the buyer', 'Why it was not paid', 'Paid to the source'],
    ...['Revenue (USD)', 'Payout (USD)', 'Returned', 'Test'],
  ]);
});

test('a file of calls has nothing that a partner does not see', () => {
  const hidden = {
    publisher: /buyer|revenue|not paid|returned/i,
    buyer: /source|payout/i,
  };
  expect(listTitles(publisher).filter((title) => hidden.publisher.test(title))).toEqual([]);
  expect(listTitles(publisher)).toContain('You are paid (USD)');
  expect(listTitles(buyer).filter((title) => hidden.buyer.test(title))).toEqual([]);
  expect(listTitles(buyer)).toContain('You pay (USD)');
});

test('cells of calls: local times, lengths, words, and a call without a buyer', () => {
  const noun = contract.nouns.calls!;
  const row: Row = {
    id: '7',
    category: 'inbound',
    created_at: '2026-11-01T01:30:05.250-04:00',
    status: 'no_answer',
    attempts_count: '0',
    total_duration: '3725',
    answered_duration: '0',
    buyer_converted: 'false',
    unbilled_reason: 'returned',
    revenue: '12.5',
    sandbox: 'true',
    token_values: '{"state":"CA","zip":"90001"}',
  };
  const columns = listExported({
    layout: layOutCalls(owner),
    noun,
    columns: [{ name: 'token_values' }, { name: 'offer' }],
  });
  const cells = columns.map((column) => formatCell(noun, column, row));
  expect(cells.filter((cell) => cell !== '')).toEqual([
    ...['7', 'Incoming', '2026-11-01 01:30:05', 'No buyer', '1:02:05', '0:00:00', 'no'],
    ...['Returned', '12.5', 'yes', 'yes', 'state=CA, zip=90001'],
  ]);
});
