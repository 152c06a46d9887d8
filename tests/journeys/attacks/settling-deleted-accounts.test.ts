import { soldCalls } from '../../support/sold-calls';
import { softswitch } from '../../support/softswitch';
import { createMember } from '../../support/teams';

// The attack: a traffic source or a prepaid buyer is deleted before its account is settled. Nothing
// could be paid to it and no statement drawn up, although calls and returns still changed the
// account.

const here = softswitch('2026-06-01T16:00:00Z');
const { ok, later } = here;
const { sold } = soldCalls(here);

type Fields = Record<string, unknown>;

const PERIOD = { from: '2026-06-01T00:00:00Z', to: '2026-06-01T17:00:00Z' };
const HOUR = 3600;

test('a deleted traffic source is paid what it is owed, with a statement of it', async () => {
  const { traffic_source_id, change } = await sold();
  const { uuid } = (await ok('get', `traffic_sources/${traffic_source_id}`)).traffic_source;
  await ok('delete', `traffic_sources/${traffic_source_id}`);
  expect((await change({ payout: 9 })).status).toBe(200);
  const payment = { kind: 'payment', amount: -8.5 };
  const { account_entry } = await ok('post', 'account_entries', { traffic_source_id, ...payment });
  expect(account_entry).toMatchObject({ traffic_source_id, ...payment });
  const kind = 'adjustment';
  await ok('post', 'account_entries', { traffic_source_id: uuid, kind, amount: -0.5 });
  later(2 * HOUR);
  const { statement } = await ok('post', 'statements', { traffic_source_id, ...PERIOD });
  expect(statement).toMatchObject({ traffic_source_id, closing_balance: 0, entries_count: 4 });
});

test('a deleted prepaid buyer is settled too', async () => {
  const { buyer: buyerId } = await sold();
  await ok('put', `buyers/${buyerId}`, { prepaid: true });
  await ok('delete', `buyers/${buyerId}`);
  await ok('post', 'account_entries', { buyer_id: buyerId, kind: 'deposit', amount: 25 });
  await ok('post', 'account_entries', { buyer_id: buyerId, kind: 'adjustment', amount: -5 });
  later(2 * HOUR);
  const { statement } = await ok('post', 'statements', { buyer_id: buyerId, ...PERIOD });
  expect(statement).toMatchObject({ buyer_id: buyerId, closing_balance: 0 });
});

test('accounts that are not the own ones stay out of reach', async () => {
  const { buyer: buyerId, traffic_source_id } = await sold();
  const limited = await createMember(here.world.company, 'partner@example.com', {
    permissions: ['account_entries:create', 'statements:create', 'company_wide:update'],
    buyer_ids: [buyerId],
  });
  await ok('delete', `traffic_sources/${traffic_source_id}`);
  const entry = { traffic_source_id, kind: 'adjustment', amount: 1 };
  const otherCompany = await here.world.addCompany();
  later(2 * HOUR);
  const refused: [string, Fields][] = [
    ['account_entries', entry],
    ['statements', { traffic_source_id, ...PERIOD }],
  ];
  for (const [path, body] of refused)
    for (const { api } of [limited, otherCompany]) {
      const res = await api('post', path, { body });
      expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['traffic_source_id']]);
    }
});
