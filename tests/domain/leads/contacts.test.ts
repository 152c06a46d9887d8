import { setTimeout } from 'node:timers/promises';
import { EMAIL, STUCK, newNumber, useContacts } from '../../support/contacts';
import { DIAL, openShop, runEngine, sms, wait } from '../../support/leads';

const here = useContacts();
const { api, block, lead, listBodies, loadContact } = here;
const { records, submitLead, time, unblock, world } = here;

describe('contacts', () => {
  test('are found by number in any spelling, by the blacklist and by opting out', async () => {
    const company = await world.addCompany();
    const { schedule } = await openShop(world, [], {}, company);
    await block(['+13107770001', '+13107770002'], company);
    for (const callerId of ['3107770002', '3107770003'])
      await api('post', 'leads', {
        auth: null,
        query: { lead_token: schedule.lead_token, caller_id: callerId },
      });
    expect(
      (
        await company.api('put', 'leads/3107770003/caller_opt_out', {
          query: { lead_token: schedule.lead_token },
        })
      ).status,
    ).toBe(200);
    const listed = async (query: object) =>
      (await records('contacts', query, company))
        .map(({ caller_id }: { caller_id: string }) => caller_id.slice(-1))
        .join('');
    for (const callerId of ['+13107770002', '(310) 777-0002', '1-310-777-0002', '310.777.0002'])
      expect([callerId, await listed({ caller_id: callerId })]).toEqual([callerId, '2']);
    expect(await listed({ caller_id: '+13107779999' })).toBe('');
    expect([
      await listed({ blocked: true }),
      await listed({ blocked: 'no' }),
      await listed({ opt_out: 'yes' }),
      await listed({ opt_out: false }),
    ]).toEqual(['12', '3', '3', '12']);
    expect([
      await listed({ blocked: true, opt_out: true }),
      await listed({ blocked: false, caller_id: '3107770003' }),
    ]).toEqual(['', '3']);
    expect(
      (await company.api('get', 'contacts', { query: { caller_id: 'call me' } })).body.errors,
    ).toEqual({ caller_id: [expect.any(String)] });
    expect(
      (await company.api('get', 'contacts', { query: { per_page: 1 } })).body.metadata.total_count,
    ).toBe(3);
  });

  test('count what went to their leads, and when it last did', async () => {
    const [shop, number] = [await openShop(world, [sms('a'), sms('b'), DIAL, EMAIL]), newNumber()];
    await submitLead(shop.schedule.lead_token, number, { email: 'ann@example.com' });
    await submitLead(shop.offer.lead_token, number);
    await runEngine(world);
    const counts = {
      leads_count: 2,
      calls_count: 1,
      sms_count: 2,
      emails_count: 1,
      last_contacted_at: '2027-01-12T17:00:00.000+00:00',
    };
    expect(await loadContact(number)).toMatchObject({ ...counts, blocked: false, opt_out: false });
  });

  test('are shown by number and uuid, and not again while they are unchanged', async () => {
    const number = newNumber();
    await block([number]);
    const { id, uuid } = await loadContact(number);
    const first = await api('get', `contacts/${id}`);
    expect((await api('get', `contacts/${uuid}`)).body).toEqual(first.body);
    expect(first.body.contact).toMatchObject({
      caller_id: number,
      blocked: true,
      blocked_at: expect.any(String),
      unblocked_at: null,
    });
    const reload = () =>
      api('get', `contacts/${id}`, { headers: { 'If-None-Match': `"${first.body.checksum}"` } });
    expect((await reload()).status).toBe(304);
    await unblock([number]);
    expect((await reload()).body.contact).toMatchObject({
      blocked: false,
      unblocked_at: expect.any(String),
    });
    expect((await (await world.addCompany()).api('get', `contacts/${id}`)).status).toBe(404);
  });
});

test.each(['opt_out', 'blocked'])(
  'a lead is changed in %s with its checksum, once, and the log has what it was before',
  async (field) => {
    const { schedule } = await openShop(world, []);
    const { id } = await submitLead(schedule.lead_token, newNumber());
    const { etag } = (await api('get', `leads/${id}`)).headers;
    const put = (value: boolean) =>
      api('put', `leads/${id}`, { body: { [field]: value }, headers: { 'If-Match': etag! } });
    const first = await put(true);
    expect([first.status, first.body.lead[field], (await put(false)).status]).toEqual([
      200,
      true,
      412,
    ]);
    expect((await lead(id))[field]).toBe(true);
    const [entry] = await records('change_logs', { record_type: 'Lead', record_id: id });
    expect(entry.changes[field]).toEqual({ from: false, to: true });
  },
);

describe('the blacklist', () => {
  test.each<[string, unknown[], object]>([
    [
      'takes numbers in any spelling, each once',
      ['(310) 888-0001', '+13108880001', 13108880001, '310-888-0002'],
      { accepted: 4, added: 2, removed: 0, rejected: [] },
    ],
    [
      'counts none that is on it already',
      ['3108880001', '3108880003'],
      { accepted: 2, added: 1, removed: 0, rejected: [] },
    ],
    [
      'names what is no number, and takes the rest',
      ['call me', '', '3108880004', '123'],
      {
        accepted: 1,
        added: 1,
        rejected: ['call me', '', '123'].map((callerId) => ({
          caller_id: callerId,
          reason: expect.any(String),
        })),
      },
    ],
    [
      'may be given nothing but junk',
      ['x'],
      { accepted: 0, added: 0, rejected: [{ caller_id: 'x', reason: expect.any(String) }] },
    ],
  ])('%s', async (_name, callerIds, reply) => {
    const res = await block(callerIds);
    expect([res.status, res.body]).toEqual([200, expect.objectContaining(reply)]);
  });

  test('gives back only what is on it, and is the company’s own', async () => {
    const [numbers, otherCompany] = [[newNumber(), newNumber()], await world.addCompany()];
    await block([numbers[0]]);
    await block(numbers, otherCompany);
    expect((await unblock([...numbers, 'junk'])).body).toMatchObject({
      accepted: 2,
      added: 0,
      removed: 1,
      rejected: [{ caller_id: 'junk' }],
    });
    expect((await unblock(numbers)).body).toMatchObject({ accepted: 2, removed: 0 });
    expect([
      (await loadContact(numbers[0]!)).blocked,
      (await loadContact(numbers[0]!, otherCompany)).blocked,
    ]).toEqual([false, true]);
  });

  test('takes ten thousand numbers at once, and not one more', async () => {
    const numbers = Array.from({ length: 10_000 }, (_, n) => 13_109_000_000 + n);
    expect((await block(numbers)).body).toMatchObject({ accepted: 10_000, added: 10_000 });
    expect((await unblock(numbers.toReversed())).body).toMatchObject({
      accepted: 10_000,
      removed: 10_000,
    });
    expect((await block([...numbers, 13_109_990_000])).body.errors).toEqual({
      caller_ids: [expect.any(String)],
    });
    expect((await block([])).body.errors).toEqual({ caller_ids: [expect.any(String)] });
  });

  test('stops the living leads of a number, and gives them back where they were', async () => {
    const [shop, ended, number] = [
      await openShop(world, [sms('first'), wait(2), sms('second')]),
      await openShop(world, [sms('only')]),
      newNumber(),
    ];
    const leads = await Promise.all(
      [shop.schedule, ended.schedule, shop.offer].map(
        async ({ lead_token }) => (await submitLead(lead_token, number)).id,
      ),
    );
    const statuses = async () => (await Promise.all(leads.map(lead))).map(({ status }) => status);
    await runEngine(world);
    expect(await statuses()).toEqual(['waiting', 'completed', 'queue']);
    await block([number]);
    expect(await statuses()).toEqual(['blocked', 'completed', 'blocked']);
    expect(await lead(leads[0]!)).toMatchObject({
      is_live: true,
      blocked: true,
      has_next_action: false,
    });
    time.set('2027-01-12T18:00:00Z');
    await unblock([number]);
    await runEngine(world);
    // Its wait goes on to the time that was meant.
    expect([await statuses(), await listBodies(number)]).toEqual([
      ['waiting', 'completed', 'queue'],
      expect.not.arrayContaining(['second']),
    ]);
    await block([number]);
    time.set('2027-01-12T19:30:00Z');
    expect([await runEngine(world), (await listBodies(number)).length]).toEqual([0, 2]);
    await unblock([number]);
    await runEngine(world);
    expect(await statuses()).toEqual(['completed', 'completed', 'queue']);
    // Leads that are due at the same time are contacted in any order.
    expect((await listBodies(number)).toSorted()).toEqual(['first', 'only', 'second']);
  });

  test(
    'a change that waits for another of the same number is made of what that ' + 'one leaves',
    async () => {
      const [{ schedule }, number] = [await openShop(world, [wait(24)]), newNumber()];
      const { id } = await submitLead(schedule.lead_token, number);
      await block([number]);
      await unblock([number]);
      await world.sql('BEGIN');
      await world.sql('SELECT FROM contacts WHERE caller_number = $1 FOR UPDATE', [
        number.slice(1),
      ]);
      const waiting = unblock([number]);
      for (let n = 0; n < 200 && (await world.deps.database.pool.query(STUCK)).rowCount === 0; n++)
        await setTimeout(20);
      await world.sql('UPDATE contacts SET blocked = true WHERE caller_number = $1', [
        number.slice(1),
      ]);
      await world.sql(`UPDATE leads SET status = 'blocked', due_at = NULL WHERE id = $1`, [id]);
      await world.sql('COMMIT');
      expect((await waiting).body).toMatchObject({ accepted: 1, removed: 1 });
      expect([(await loadContact(number)).blocked, (await lead(id)).status]).toEqual([
        false,
        'scheduled',
      ]);
    },
  );

  test(
    'twenty simultaneous changes of the same numbers, in different orders, leave ' +
      'leads and contacts of one mind',
    async () => {
      const { schedule } = await openShop(world, [wait(24)]);
      const numbers = Array.from({ length: 60 }, newNumber);
      await Promise.all(
        numbers.slice(0, 40).map((number) => submitLead(schedule.lead_token, number)),
      );
      const orders = Array.from({ length: 20 }, (_, n) => [
        ...numbers.slice(n * 3),
        ...numbers.slice(0, n * 3).toReversed(),
      ]);
      const engine = runEngine(world).then(() => ({ status: 200 }));
      const changes = await Promise.all([
        ...orders.map((order, n) => (n % 2 ? block : unblock)(order)),
        engine,
      ]);
      expect(changes.map(({ status }) => status)).toEqual(changes.map(() => 200));
      const minds =
        `SELECT DISTINCT c.blocked, l.status = 'blocked' AS stopped FROM leads l ` +
        `JOIN contacts c USING (company_id, caller_number) WHERE l.schedule_id = $1`;
      const rows = await world.sql(minds, [schedule.id]);
      expect([rows.length, rows[0]!.blocked]).toEqual([1, rows[0]!.stopped]);
    },
  );
});
