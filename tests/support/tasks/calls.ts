import { beginCall, playCall } from '../reported-calls';
import { findOne, pick, read, type Person, type Task } from './person';

// Calls, reports and money.

const buildCall = ({ here }: Person, caller: string) => ({
  offer_id: here.offer.id,
  caller_number: caller,
  tokens: { state: 'CA' },
});

/** An offer whose only buyer is paused. */
async function createStrictOffer({ here, named }: Person): Promise<number> {
  const [summit] = (await here.api('get', 'buyers?fulltext=summit')).body.buyers;
  const body = { name: named('Injury claims'), buyer_ids: [summit.id] };
  return (await here.api('post', 'offers', { body })).body.offer.id;
}

/** Finds a call by its caller's number, as people spell it. */
export async function openCall(person: Person, id: number, number: string): Promise<void> {
  await person.open('Calls');
  const search = person.page.getByRole('searchbox');
  await person.hands.type(search, spell(number));
  await person.page.keyboard.press('Enter');
  await person.sees('1–1 of 1 call');
  await person.hands.press(person.page.locator('tbody tr').first().getByRole('link').first());
  await person.page.getByRole('heading', { level: 1, name: `Call ${id}` }).waitFor();
}

const spell = (number: string): string =>
  `(${number.slice(2, 5)}) ${number.slice(5, 8)}-${number.slice(8)}`;

async function drawStatement(person: Person): Promise<void> {
  const { here } = person;
  const name = person.named('Prepaid Leads');
  const buyer = { name, number: '+12125550199', prepaid: true };
  const { id } = (await here.api('post', 'buyers', { body: buyer })).body.buyer;
  await person.open('Accounts of buyers');
  await person.press(`Deposit: ${name}`);
  const dialog = person.page.getByRole('dialog', { name: `Deposit: ${name}` });
  await person.type(/^Amount/, '500', dialog);
  await person.type('Note', 'Wire of May 1', dialog);
  await person.press('Deposit', dialog);
  await dialog.waitFor({ state: 'hidden' });
  const entry = await findOne(person, `account_entries?buyer_id=${id}`);
  expect(entry).toMatchObject({ kind: 'deposit', amount: 500, note: 'Wire of May 1' });
  // A statement is of a period that is over.
  const earlier = new Date();
  earlier.setUTCMonth(earlier.getUTCMonth(), 0);
  await here.world.sql('UPDATE account_entries SET created_at = $1 WHERE buyer_id = $2', [
    earlier,
    id,
  ]);
  await person.follow(`Statements: ${name}`);
  await person.press('Draw up');
  await person.page.waitForURL(/#\/statements\/\d+$/);
  const statement = await findOne(person, `statements?buyer_id=${id}`);
  expect(statement).toMatchObject({ entries_count: 1, closing_balance: 500 });
  await person
    .panel('Lines')
    .getByRole('row', { name: /Wire of May 1/ })
    .waitFor();
}

async function reportBySourceAndDay(person: Person): Promise<void> {
  const query = 'group_by=traffic_source,day&call_category=inbound';
  await person.open('Reports');
  await person.select('Group by', 'Source');
  await person.select('then by', 'Day');
  const report = person.panel('Report');
  await report.getByRole('columnheader', { name: 'Source' }).waitFor();
  await report.getByRole('columnheader', { name: 'Day' }).waitFor();
  const { rows, totals } = (await person.api('get', `calls/reports/grouped?${query}`)).body;
  const shown = await report.locator('tfoot tr :is(td, th)').allInnerTexts();
  expect([shown[1], shown[2], shown[6]]).toEqual([
    String(totals.calls),
    String(totals.connects),
    `$${totals.revenue.toFixed(2)}`,
  ]);
  const { lines } = await person.save(() => person.press('CSV'));
  expect(lines).toHaveLength(rows.length + 2);
  expect(lines[0]).toContain('Source,Day,Calls,Connected,Connect rate');
  expect(lines.at(-1)).toContain(`Total,,${totals.calls},${totals.connects},`);
}

export const CALL_TASKS: readonly Task[] = [
  {
    name: 'find why a call was not routed',
    do: async (person) => {
      const number = pick(person, '+12125550171', '+12125550172');
      const body = { ...buildCall(person, number), offer_id: await createStrictOffer(person) };
      const { id } = await beginCall(person.here.api, body);
      await openCall(person, id, number);
      const { decisions } = (await person.api('get', `calls/${id}/decision`)).body;
      const [{ candidates }] = decisions;
      await person.sees('No buyer could take it.');
      expect(candidates.length).toBeGreaterThan(0);
      const rows = person.panel('Why it went there').getByRole('row');
      for (const [n, candidate] of candidates.entries())
        expect((await rows.nth(n + 1).innerText()).toLowerCase()).toContain(candidate.message);
    },
  },
  {
    name: 'return a call',
    do: async (person) => {
      const number = pick(person, '+12125550173', '+12125550174');
      const id = await playCall(person.here.api, buildCall(person, number), 100);
      const call = async () => read(person, `calls/${id}`, 'call');
      expect((await call()).revenue).toBeGreaterThan(0);
      await openCall(person, id, number);
      await person.press('Return the call');
      const dialog = person.page.getByRole('dialog', { name: 'Return the call' });
      await person.type('Reason', 'Wrong number', dialog);
      await person.press('Return it', dialog);
      await person.page.getByRole('button', { name: 'Mark as paid' }).waitFor();
      expect(await call()).toMatchObject({ buyer_converted: false, revenue: 0 });
      await person.sees('Wrong number', person.panel('What happened'));
    },
  },
  {
    name: 'make a test call',
    do: async (person) => {
      const number = pick(person, '+13105550197', '+13105550198');
      await person.open('Calls');
      await person.follow('Test call');
      await person.find('Offer', 'Auto insurance');
      await person.type('From', spell(number));
      await person.hands.press(
        person.page.locator('summary', { hasText: 'Tokens, source, and another time' }),
      );
      await person.type('Tokens', 'state=CA');
      await person.press('Make the test call');
      await person.sees('completed', person.panel('As it happens'));
      const call = await findOne(person, `calls?caller_number=${encodeURIComponent(number)}`);
      expect(call).toMatchObject({ sandbox: true, token_values: { state: 'CA' } });
      await person.follow('The page of the call');
      await person.page.waitForURL(`**/#/calls/${call.id}`);
    },
  },
  {
    name: 'export all calls of a month',
    do: async (person) => {
      await person.open('Calls');
      await person.press('Filter');
      await person.select('Period', 'This month');
      await person.page.waitForURL(/created_at_from=/);
      const { name, lines } = await person.save(() => person.press('CSV'));
      expect(name).toMatch(/^calls-\d{4}-\d\d-01-to-[\d-]{10}\.csv$/);
      expect(lines[0]).toMatch(/Call,Call UUID,Direction,Started \(.+\),Caller/);
      const from = new Date().toISOString().slice(0, 8);
      const { body } = await person.api('get', `calls?created_at_from=${from}01`);
      expect(lines).toHaveLength(body.metadata.total_count + 1);
    },
  },
  { name: 'make a report by source and day with totals, and its CSV', do: reportBySourceAndDay },
  { name: 'enter a deposit and draw up a statement', do: drawStatement },
];
