import { deleteOldRecords } from '../../../src/operate/privacy/delete-old';
import { standingClock } from '../../support/clock';
import { EMAIL, NOON, openShop, runEngine, SMS, submit, type Shop } from '../../support/leads';
import { useWorld } from '../../support/use-world';

// Records are deleted once they are older than they are kept, with what belongs to them, and all
// counts stay exact.

const DAY_MS = 86_400_000;
const KEEP_ALL = { call_days: 0, lead_days: 0, message_days: 0, change_log_days: 0 };
const time = standingClock(NOON);
const world = useWorld({ clock: time.read });
const { api } = world;
let shop: Shop;
beforeAll(async () => {
  shop = await openShop(world, [SMS, EMAIL]);
  const buyer = await world.create('buyers', { name: 'Buyer', number: '+12135550111' });
  await api('put', `offers/${shop.offer.id}`, { body: { buyer_ids: [buyer] } });
  await createActivity('3105550123', -100);
  await createActivity('3105550124', -10);
});

/** A lead is contacted, calls a buyer, which pays, and ends. */
async function createActivity(callerId: string, days: number): Promise<void> {
  time.set(new Date(Date.parse(NOON) + days * DAY_MS).toISOString());
  await submit(world, shop.schedule.lead_token, { caller_id: callerId });
  await runEngine(world);
  const { body } = await api('post', 'call_sessions', {
    body: { offer_id: shop.offer.id, caller_number: `+1${callerId}` },
  });
  const { uuid, instruction } = body.call_session;
  for (const event of [
    { event: 'answered', attempt: instruction.dial[0].attempt },
    { event: 'completed', duration: 90 },
  ])
    await api('post', `call_sessions/${uuid}/events`, { body: event });
  await api('post', `leads/${callerId}/caller_opt_out`, {
    auth: null,
    query: { lead_token: shop.schedule.lead_token },
  });
  time.set(NOON);
}

const remove = (days: Partial<typeof KEEP_ALL>) =>
  deleteOldRecords(world.deps, { ...KEEP_ALL, ...days });

const countRows = async (table: string): Promise<number> => {
  const [row] = await world.sql<{ n: string }>(`SELECT count(*) AS n FROM ${table}`);
  return Number(row!.n);
};

/** The count of a list, which must be that of the rows. */
async function loadExactCount(path: string): Promise<number> {
  const { body } = await api('get', path, { query: { per_page: 1 } });
  expect([path, body.metadata.total_count]).toEqual([path, await countRows(path)]);
  return body.metadata.total_count;
}

test('nothing is deleted where no days are set, or nothing is as old', async () => {
  const before = [
    await loadExactCount('leads'),
    await loadExactCount('calls'),
    await loadExactCount('change_logs'),
  ];
  expect(before.slice(0, 2)).toEqual([2, 2]);
  await remove({});
  await remove({ call_days: 200, lead_days: 200, message_days: 200, change_log_days: 200 });
  expect([
    await loadExactCount('leads'),
    await loadExactCount('calls'),
    await loadExactCount('change_logs'),
  ]).toEqual(before);
});

test('texts and e-mails', async () => {
  const before = (await loadExactCount('text_messages')) + (await loadExactCount('emails'));
  await remove({ message_days: 30 });
  expect((await loadExactCount('text_messages')) + (await loadExactCount('emails'))).toBe(
    before / 2,
  );
});

test('leads that have ended, while their calls stay', async () => {
  await remove({ lead_days: 30 });
  expect([await loadExactCount('leads'), await loadExactCount('calls')]).toEqual([1, 2]);
  const [orphans] = await world.sql<{ n: string }>(
    'SELECT count(*) AS n FROM lead_logs l WHERE NOT EXISTS (SELECT FROM leads WHERE id = l.lead_id)',
  );
  expect(orphans!.n).toBe('0');
});

test('calls, with what belongs to them', async () => {
  const parts = ['call_attempts', 'call_events', 'call_decisions'];
  const before = await Promise.all(parts.map(countRows));
  await remove({ call_days: 30 });
  expect(await loadExactCount('calls')).toBe(1);
  expect(await Promise.all(parts.map(countRows))).toEqual(before.map((rows) => rows / 2));
  const { body } = await api('get', 'calls', { query: { category: 'inbound' } });
  expect(body.metadata.total_count).toBe(body.calls.length);
});

test('a deleted lead, and a call in progress only when it has ended', async () => {
  const [lead] = await world.sql<{ id: string }>('SELECT id FROM leads');
  await api('delete', `leads/${lead!.id}`);
  const callResponse = await api('post', 'call_sessions', {
    body: { offer_id: shop.offer.id, caller_number: '+13105550125' },
  });
  time.set(new Date(Date.parse(NOON) + 50 * DAY_MS).toISOString());
  await remove({ lead_days: 30, call_days: 30 });
  expect(await countRows('leads')).toBe(0);
  expect(await countRows('calls')).toBe(1);
  expect((await api('get', `call_sessions/${callResponse.body.call_session.uuid}`)).status).toBe(
    200,
  );
});

test('the log of changes', async () => {
  await remove({ change_log_days: 1 });
  expect(await loadExactCount('change_logs')).toBe(0);
});

test('two processes that delete at once delete each once', async () => {
  await createActivity('3105550126', 0);
  await createActivity('3105550127', 0);
  time.set(new Date(Date.parse(NOON) + 200 * DAY_MS).toISOString());
  const all = { call_days: 30, lead_days: 30, message_days: 30, change_log_days: 30 };
  await Promise.all([remove(all), remove(all), remove(all)]);
  for (const path of ['leads', 'text_messages', 'emails', 'change_logs'])
    expect(await loadExactCount(path)).toBe(0);
  expect(await loadExactCount('calls')).toBe(1);
});
