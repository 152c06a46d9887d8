import { gzipSync } from 'node:zlib';
import { CALLER, on, setUp, world } from '../../support/carrier-calls';

// Uploaded lists of ZIP codes, which filters name.

type Fields = Record<string, unknown>;

setUp();

const { api } = world;
const createList = async (body: Fields) => (await on.ok('post', 'value_lists', body)).value_list;
const loadValues = async (id: number, query = {}) =>
  (await api('get', `value_lists/${id}/values`, { query })).body.values;
const zip = (n: number) => String(n).padStart(5, '0');

describe('a list of values', () => {
  test('is created with values, changed, read and deleted', async () => {
    const list = await createList({ name: 'West coast', values: ['90001', ' 97201', '90001', ''] });
    expect(list).toMatchObject({ name: 'West coast', values_count: 2, in_use: false });
    const added = await on.ok('post', `value_lists/${list.id}/add_values`, {
      values: ['97201', 98101, 'ABC'],
    });
    expect(added).toMatchObject({ accepted: 3, added: 2, removed: 0 });
    expect(added.value_list.values_count).toBe(4);
    expect(await loadValues(list.id)).toEqual(['90001', '97201', '98101', 'abc']);
    expect(await loadValues(list.id, { value: 'Abc' })).toEqual(['abc']);
    expect(await loadValues(list.id, { value: '1' })).toEqual([]);
    const removed = await on.ok('post', `value_lists/${list.id}/remove_values`, {
      values: ['ABC', 'gone'],
    });
    expect(removed).toMatchObject({ accepted: 2, added: 0, removed: 1 });
    const replaced = await on.ok('put', `value_lists/${list.id}`, { values: ['10001'] });
    expect(replaced.value_list.values_count).toBe(1);
    expect(await loadValues(list.id)).toEqual(['10001']);
    expect((await api('delete', `value_lists/${list.id}`)).status).toBe(200);
    expect((await api('get', `value_lists/${list.id}`)).status).toBe(404);
    await createList({ name: 'west COAST' });
  });

  test('has a name that no other has, in any case', async () => {
    await createList({ name: 'Zips' });
    const otherList = await createList({ name: 'Others' });
    for (const [method, path] of [
      ['post', 'value_lists'],
      ['put', `value_lists/${otherList.id}`],
    ] as const) {
      const { status, body } = await api(method, path, { body: { name: 'ZIPS' } });
      expect([status, Object.keys(body.errors)]).toEqual([422, ['name']]);
    }
    for (const name of ['a,b', 'a:b', '[a]', '"a"', ' a', 'a|b'])
      expect((await api('post', 'value_lists', { body: { name } })).status).toBe(422);
  });

  test.each([
    ['one column without a header', '90001\n90002\n', {}, 2],
    ['a usual header among others', 'city,zip\nLA,90001\nSF,94101\nSF,94101\n', {}, 2],
    ['a column that is named', 'a;Code\n1;90001\n2;90002\n', { column_name: 'code' }, 2],
  ])('comes from a CSV file with %s', async (_what, text, form, count) => {
    const list = await createList({ name: 'Zips' });
    const res = await api('post', `value_lists/${list.id}/add_values`, {
      form: { ...form, import_file: Buffer.from(text) },
    });
    expect([res.status, res.body.added]).toEqual([200, count]);
    const created = await api('post', 'value_lists', {
      form: { ...form, name: 'Packed', import_file: gzipSync(text) },
      file_name: 'zips.csv.gz',
    });
    expect([created.status, created.body.value_list.values_count]).toEqual([201, count]);
  });

  test.each([
    ['several columns and no name', 'a,b\n1,2\n', {}, 'column_name'],
    ['no such column', 'a,b\n1,2\n', { column_name: 'c' }, 'column_name'],
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0, 0]), {}, 'import_file'],
  ])('refuses a file with %s', async (_what, content, form, field) => {
    const { status, body } = await api('post', 'value_lists', {
      form: { name: 'Zips', ...form, import_file: Buffer.from(content) },
    });
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  });

  test('is of its company alone', async () => {
    const list = await createList({ name: 'Mine', values: ['90001'] });
    const otherCompany = await world.addCompany();
    for (const [method, path] of [
      ['get', ''],
      ['put', ''],
      ['delete', ''],
      ['get', '/values'],
      ['post', '/add_values'],
    ] as const)
      expect(
        (
          await otherCompany.api(method, `value_lists/${list.id}${path}`, {
            ...(method !== 'get' && { body: { values: ['1'] } }),
          })
        ).status,
      ).toBe(404);
    const body = { name: 'B', record_token_filter_list: ['zip:in_list mine'] };
    const refused = await otherCompany.api('post', 'buyers', { body });
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([
      422,
      ['record_token_filter_list'],
    ]);
  });
});

describe('a filter that names a list', () => {
  test('works for 50,000 ZIP codes, in every place that decides', async () => {
    const values = Array.from({ length: 50_000 }, (_, n) => zip(n * 2));
    const csv = Buffer.from(`zip\n${values.join('\n')}\n`);
    const { status, body } = await api('post', 'value_lists', {
      form: { name: 'Even zips', import_file: csv },
    });
    expect([status, body.value_list.values_count]).toEqual([201, 50_000]);
    const first = await on.buyer({ record_token_filter_list: ['zip:IN_LIST even zips'] });
    const two = await on.buyer({ record_token_filter_list: ['zip:not in_list [Even zips]'] });
    const offerId = await on.offer([first, two]);
    const dialed = async (tokens: Fields) =>
      (
        await on.ok('post', 'call_sessions', { offer_id: offerId, tokens })
      ).call_session.instruction.dial.map(({ buyer_id }: { buyer_id: number }) => buyer_id);
    expect(await dialed({ zip: '90210' })).toEqual([first.id]);
    expect(await dialed({ zip: '90210-1234' })).toEqual([first.id]);
    expect(await dialed({ zip: '90211' })).toEqual([two.id]);
    expect(await dialed({})).toEqual([two.id]);
    const explained = async (tokens: Fields) =>
      (await on.ok('post', 'routing/explain', { offer_id: offerId, tokens })).decision.buyer_ids;
    expect(await explained({ zip: '90210' })).toEqual([first.id]);
    expect(await explained({ zip: '90211' })).toEqual([two.id]);
    const byCarrier = await on.placeCall({
      to: on.companyNumber,
      gives_up: 2,
      more: { CallerZip: '90210' },
    });
    expect(byCarrier.rung[0]).toEqual([first.number]);
    const elsewhere = { from: '+13105550187', gives_up: 2, more: { CallerZip: '90211' } };
    expect((await on.placeCall({ to: on.companyNumber, ...elsewhere })).rung[0]).toEqual([
      two.number,
    ]);
    const { offer } = await on.ok('get', `offers/${offerId}`);
    const lead = { lead_token: offer.lead_token, caller_id: CALLER, zip: '90210' };
    const { id } = await on.ok('post', 'leads', lead);
    const { buyers } = await on.ok('get', `leads/${id}/buyer_is_available`);
    expect(buyers.map(({ buyer_id, available }: Fields) => [buyer_id, available])).toEqual([
      [first.id, true],
      [two.id, false],
    ]);
    const endpoint = { name: 'P', vanity_uri: 'even', offer_id: offerId, has_auth_token: false };
    await on.ok('post', 'inbound_webhooks', endpoint);
    const pinged = await on.ok('post', 'inbound_webhooks/ping/even', {
      caller_id: '+13105550199',
      zip: '90211',
    });
    expect(pinged.buyers.map(({ buyer_id }: Fields) => buyer_id)).toEqual([two.id]);
    const period = { from: '2026-06-01T00:00:00Z', to: '2026-06-02T00:00:00Z' };
    const changes = [{ buyer_id: first.id, weight: 2 }];
    const real = (
      await on.ok('post', 'routing/simulate', { offer_id: offerId, ...period, changes })
    ).simulation;
    expect(
      real.buyers.map(({ as_configured }: { as_configured: Fields }) => as_configured),
    ).toEqual([
      expect.objectContaining({ attempts: 1, skip_reasons: { filter_unmet: 1 } }),
      expect.objectContaining({ attempts: 1, skip_reasons: { filter_unmet: 1 } }),
    ]);
    const synthetic = { calls: 10, ...period, tokens: { zip: '90210' }, answer_rate: 1 };
    const imagined = (
      await on.ok('post', 'routing/simulate', { offer_id: offerId, synthetic, changes })
    ).simulation;
    expect(
      imagined.buyers.map((row: { as_configured: Fields }) => row.as_configured.attempts),
    ).toEqual([10, 0]);
  });

  test('a value that is added or removed counts from the next call on', async () => {
    const list = await createList({ name: 'Zips', values: ['10001'] });
    const buyer = await on.buyer({ record_token_filter_list: ['zip:in_list Zips'] });
    const offerId = await on.offer([buyer]);
    const action = async () =>
      (await on.ok('post', 'call_sessions', { offer_id: offerId, tokens: { zip: '90210' } }))
        .call_session.instruction.action;
    expect(await action()).toBe('hang_up');
    await on.ok('post', `value_lists/${list.id}/add_values`, { values: ['90210'] });
    expect(await action()).toBe('dial');
    await on.ok('post', `value_lists/${list.id}/remove_values`, { values: ['90210'] });
    expect(await action()).toBe('hang_up');
  });

  test('decides what a schedule does, and which conversion pays', async () => {
    await createList({ name: 'Zips', values: ['90210'] });
    const { schedule } = await on.ok('post', 'schedules', { name: 'S' });
    const action = { schedule_id: schedule.id, action_type: 'wait', wait_amount: 1 };
    for (const filter of ['zip:in_list zips', 'zip:not in_list zips'])
      await on.ok('post', 'schedule_actions', {
        ...action,
        wait_unit: 'hours',
        token_filter_list: [filter],
      });
    const { id } = await on.ok('post', 'leads', {
      lead_token: schedule.lead_token,
      caller_id: CALLER,
      zip: '90210',
    });
    const { timeline } = await on.ok('get', `leads/${id}/timeline`);
    expect(JSON.stringify(timeline.future)).toContain('token');
    const buyer = await on.buyer({ current_conversion_token_values: ['zip:in_list zips'] });
    await on.offer([buyer]);
    const paid = async (CallerZip: string) => {
      const played = await on.placeCall({
        from: `+1310555${CallerZip.slice(-4)}`,
        to: on.companyNumber,
        buyers: { [buyer.number]: { does: 'answer', after: 2, talks: 30 } },
        more: { CallerZip },
      });
      return (await on.loadCall(played)).revenue;
    };
    expect([await paid('90210'), await paid('90211')]).toEqual(['10.00', '0.00']);
  });

  test('must name a list, and keeps it from being renamed or deleted', async () => {
    const list = await createList({ name: 'Zips' });
    const buyer = await on.buyer({ name: 'Bay', record_token_filter_list: ['zip:in_list ZIPS'] });
    const unknown = { name: 'B', record_token_filter_list: ['zip:in_list gone'] };
    const refused = await api('post', 'buyers', { body: unknown });
    expect([refused.status, refused.body.errors.record_token_filter_list[0]]).toEqual([
      422,
      expect.stringContaining('names no value list of yours: gone'),
    ]);
    expect((await on.ok('get', `value_lists/${list.id}`)).value_list.in_use).toBe(true);
    for (const res of [
      await api('delete', `value_lists/${list.id}`),
      await api('put', `value_lists/${list.id}`, { body: { name: 'Others' } }),
    ])
      expect([res.status, res.body.errors.name[0]]).toEqual([
        422,
        expect.stringContaining(`used by Buyer ${buyer.id} (Bay)`),
      ]);
    expect((await api('put', `value_lists/${list.id}`, { body: { name: 'zips' } })).status).toBe(
      200,
    );
    await on.ok('put', `buyers/${buyer.id}`, { record_token_filter_list: [] });
    expect((await api('delete', `value_lists/${list.id}`)).status).toBe(200);
  });

  test.each([
    ['conversions', { current_conversion_token_values: ['zip:in_list zips'] }],
    ['filters', { record_token_filter_list: ['a:in_list zips', 'zip:in_list zips'] }],
  ])('a list that %s name is deleted before or after, never in between', async (_what, fields) => {
    for (let n = 0; n < 5; n++) {
      const list = await createList({ name: 'Zips' });
      const [created, deleted] = await Promise.all([
        api('post', 'buyers', { body: { name: 'B', ...fields } }),
        api('delete', `value_lists/${list.id}`),
      ]);
      expect([
        [201, 422],
        [422, 200],
      ]).toContainEqual([created.status, deleted.status]);
      if (created.status === 201) {
        await api('delete', `buyers/${created.body.buyer.id}`);
        expect((await api('delete', `value_lists/${list.id}`)).status).toBe(200);
      }
    }
  });
});
