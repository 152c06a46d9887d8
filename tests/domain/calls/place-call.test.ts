import { ownNumber, loadStory, submit } from '../../support/leads';
import { placedCalls } from '../../support/placed-calls';

const TO = '+13105550190';
const here = placedCalls();
const { ok, placeCall, errors, distant, counted, shop } = here;

describe('a placed call', () => {
  test('for a schedule is connected to where the calls of the schedule go', async () => {
    const { schedule, offer } = await shop();
    const res = await placeCall({ to: '(310) 555-0190', schedule_id: schedule.id });
    expect(res.status).toBe(201);
    expect(res.body.call).toMatchObject({
      category: 'outbound',
      status: 'completed',
      caller_number: TO,
      number_called: here.companyNumber,
      connected_to: '+13105550199',
      schedule_id: schedule.id,
      offer_id: offer.id,
      lead_id: null,
      sandbox: true,
      call_sid: expect.any(String),
    });
    expect(res.body.call).toEqual((await ok('get', `calls/${res.body.call.uuid}`)).call);
    expect(await counted()).toEqual([1, 1]);
    // No buyer was considered.
    const answer = await ok('get', `calls/${res.body.call.id}/decision`);
    expect(answer).toMatchObject({ decisions: [], billing: null });
  });

  test('for an offer asks for a buyer when it is answered', async () => {
    const buyers = [];
    for (const tier of [2, 1])
      buyers.push(
        (await ok('post', 'buyers', { number: `+1212555010${tier}`, tier, timeout_seconds: 25 }))
          .buyer.id,
      );
    const offer = (await ok('post', 'offers', { name: 'Auto', buyer_ids: buyers })).offer.id;
    const otherNumber = await ownNumber(
      here.world,
      here.world.company,
      `1646555${here.companyNumber.slice(-4)}`,
      offer,
    );
    const res = await distant()('post', 'calls', {
      query: { to: TO, from: `+1646555${here.companyNumber.slice(-4)}` },
    });
    expect(res.body.call).toMatchObject({
      status: 'queued',
      offer_id: offer,
      connected_to: null,
      buyer_id: null,
      number_called: `+1646555${here.companyNumber.slice(-4)}`,
    });
    expect(Object.fromEntries(here.server.requests[0]!.form)).toMatchObject({
      To: TO,
      From: `+1646555${here.companyNumber.slice(-4)}`,
      Timeout: '30',
      Url: expect.stringContaining(`/telephony/answer?key=${res.body.call.uuid}`),
    });
    expect(await here.server.settle()).toEqual([200]);
    expect((await ok('get', `calls/${res.body.call.id}`)).call.status).toBe('completed');
    const [numberRow] = await here.world.sql('SELECT last_assigned_at FROM numbers WHERE id = $1', [
      otherNumber,
    ]);
    expect(numberRow!.last_assigned_at).not.toBeNull();
  });

  test('for a lead has its tokens, number and owner, and counts as one attempt', async () => {
    const { schedule } = await shop();
    const lead = (await submit(here.world, schedule.lead_token, { first_name: 'Ann' })).body.id;
    const headers = { 'Idempotency-Key': 'call-ann' };
    const [first, second] = [
      await placeCall({ lead_id: lead }, here.world.company.api, headers),
      await placeCall({ lead_id: lead }, here.world.company.api, headers),
    ];
    expect([first.status, second.body]).toEqual([201, first.body]);
    expect(first.body.call).toMatchObject({
      lead_id: lead,
      caller_number: '+13105550123',
      schedule_id: schedule.id,
      token_values: { first_name: 'Ann' },
      name: 'Ann',
    });
    await placeCall({ lead_id: lead });
    const [row] = await here.world.sql(
      `SELECT contact_attempts, attempted_call_id, connected_call_id, dial_number_id, last_call_at
      FROM leads WHERE id = $1`,
      [lead],
    );
    const calls = await here.world.sql<{ id: string }>(
      'SELECT id FROM calls WHERE lead_id = $1 ORDER BY id',
      [lead],
    );
    expect(calls).toHaveLength(2);
    expect(row).toMatchObject({
      contact_attempts: 2,
      attempted_call_id: calls[1]!.id,
      connected_call_id: calls[1]!.id,
      dial_number_id: expect.any(String),
    });
    expect((await loadStory(here.world, lead)).filter((line) => line.startsWith('call_'))).toEqual(
      Array(2).fill('call_placed: requested; completed'),
    );
    expect((await ok('get', 'contacts')).contacts[0]).toMatchObject({ calls_count: 2 });
  });

  test('of a lead is in progress until the carrier reports its end', async () => {
    const { schedule } = await shop();
    const lead = (await submit(here.world, schedule.lead_token)).body.id;
    await distant()('post', 'calls', {
      body: { lead_id: lead },
      headers: { 'Idempotency-Key': 'once' },
    });
    expect((await ok('get', `leads/${lead}`)).lead.status).toBe('running');
    await here.server.settle();
    expect((await ok('get', `leads/${lead}`)).lead).toMatchObject({
      status: 'scheduled',
      connected_call_id: expect.any(Number),
    });
  });
});

describe('a call is not placed', () => {
  test('to a number that is blacklisted, opted out, or suppressed', async () => {
    const { schedule, offer } = await shop();
    const order = { to: TO, schedule_id: schedule.id };
    await ok('post', 'contacts/caller_block', { caller_ids: [TO] });
    expect(await errors(order)).toEqual({ to: [expect.stringContaining('blacklist')] });
    await ok('post', 'contacts/caller_unblock', { caller_ids: [TO] });
    const list = (await ok('post', 'buyer_suppressions', { name: 'DNC' })).buyer_suppression.id;
    await ok('post', `buyer_suppressions/${list}/caller_block`, { caller_ids: [TO] });
    expect(await errors(order)).toBe(201);
    for (const [path, id] of [
      ['schedules', schedule.id],
      ['offers', offer.id],
    ] as const) {
      await ok('put', `${path}/${id}`, { buyer_suppression_ids: [list] });
      expect(await errors(order)).toEqual({
        to: [expect.stringContaining(`suppression list ${list}`)],
      });
      await ok('put', `${path}/${id}`, { buyer_suppression_ids: [] });
    }
    const lead = (await submit(here.world, schedule.lead_token)).body.id;
    await here.world.company.api('put', 'leads/3105550123/caller_opt_out', {
      auth: null,
      query: { lead_token: schedule.lead_token },
    });
    expect(await errors({ lead_id: lead })).toEqual({
      lead_id: [expect.stringContaining('opted out')],
    });
    expect((await counted())[1]).toBe(1);
  });

  test('without a person to call, a number to call from, or a buyer to connect to', async () => {
    const { schedule } = await shop();
    const offer = (await ok('post', 'offers', { name: 'Without buyers' })).offer.id;
    expect(await errors({ schedule_id: schedule.id })).toEqual({
      to: [expect.stringContaining('must be given')],
    });
    expect(await errors({ to: TO })).toEqual({
      offer_id: [expect.stringContaining('must be given')],
    });
    expect(await errors({ to: '12', schedule_id: schedule.id })).toEqual({
      to: [expect.any(String)],
    });
    expect(await errors({ to: TO, offer_id: offer })).toEqual({
      offer_id: [expect.stringContaining('no buyer now')],
    });
    expect(await errors({ to: TO, from: '+12125559999', schedule_id: schedule.id })).toEqual({
      from: [expect.stringContaining('must be a number of the company')],
    });
    for (const field of ['lead_id', 'schedule_id', 'offer_id'])
      expect(await errors({ to: TO, [field]: 999_999_999 })).toEqual({
        [field]: [expect.stringContaining('no record of yours')],
      });
    await ok('put', `schedules/${schedule.id}`, { paused: true });
    expect(await errors({ to: TO, schedule_id: schedule.id })).toEqual({
      schedule_id: [expect.stringContaining('must not be paused')],
    });
    expect(await counted()).toEqual([0, 0]);
    const otherCompany = await here.world.addCompany();
    const mine = here.world.company;
    here.world.company = otherCompany;
    const theirs = await shop();
    await here.world.sql('DELETE FROM number_lookups WHERE company_id = $1', [otherCompany.id]);
    await here.world.sql('DELETE FROM numbers WHERE company_id = $1', [otherCompany.id]);
    expect(await errors({ to: TO, schedule_id: theirs.schedule.id })).toEqual({
      from: [expect.stringContaining('owns no number')],
    });
    here.world.company = mine;
    expect(await errors({ to: TO, schedule_id: theirs.schedule.id })).toEqual({
      schedule_id: [expect.stringContaining('no record of yours')],
    });
  });
});
