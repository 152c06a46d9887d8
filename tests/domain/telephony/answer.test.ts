import { answerCall } from '../../../src/domain/calls/answer-call';
import { applyCalls } from '../../../src/domain/leads/apply-calls';
import { loadLeadRow, loadStory, submit } from '../../support/leads';
import { placedCalls } from '../../support/placed-calls';
import { parseXml } from '../../support/xml';

const here = placedCalls();
const { ok, distant } = here;
const BUYERS = ['+12125550131', '+12125550132'];

/** An offer with two buyers, and a lead that waits there. */
async function createWaitingLead(offer: Record<string, unknown> = {}) {
  const ids = [];
  for (const [n, number] of BUYERS.entries())
    ids.push((await ok('post', 'buyers', { name: `B${n}`, number, tier: n })).buyer.id as number);
  const createdOffer = (await ok('post', 'offers', { name: 'Auto', buyer_ids: ids, ...offer }))
    .offer;
  const lead = (await submit(here.world, createdOffer.lead_token, { first_name: 'Ann' })).body
    .id as number;
  return { lead, buyers: ids, offer: createdOffer.id as number };
}

/** Places a call at the carrier; its number and where the carrier asks. */
async function placeAtCarrier(body: Record<string, unknown>) {
  const { call } = (await distant()('post', 'calls', { body })).body;
  const { form } = here.server.requests.findLast(({ method }) => method === 'POST')!;
  const hook = (name: string, params: Record<string, string> = {}, query = '') =>
    here.server.hook(`${here.public_url}/api/v1/telephony/${name}?${query || `key=${call.uuid}`}`, {
      CallSid: call.call_sid,
      From: here.companyNumber,
      ...params,
    });
  const answer = async (AnsweredBy?: string) =>
    here.report(form.get('Url')!, {
      CallSid: call.call_sid,
      From: here.companyNumber,
      ...(AnsweredBy && { AnsweredBy }),
    });
  return {
    call,
    form,
    hook,
    answer,
    shown: async () => (await ok('get', `calls/${call.id}`)).call,
  };
}
const dialed = (xml: string) =>
  parseXml(xml)
    .children.filter(({ name }) => name === 'Dial')
    .flatMap(({ children }) => children.map(({ text }) => text));
const applyAll = () => applyCalls(here.world.deps.database.pool, here.time.read());

describe('a routed call at a carrier', () => {
  test('asks what to do when it is answered, and whether a machine did', async () => {
    const { lead } = await createWaitingLead();
    const { form } = await placeAtCarrier({ lead_id: lead });
    expect(form.get('Twiml')).toBeNull();
    expect(form.get('Url')).toContain('/api/v1/telephony/answer?key=');
    expect(form.get('MachineDetection')).toBe('Enable');
    const message = { machine_action: 'leave_message', machine_message: 'Hello' };
    const otherCall = await placeAtCarrier({ lead_id: lead, ...message });
    expect(otherCall.form.get('MachineDetection')).toBe('DetectMessageEnd');
  });

  test('rings the next buyer when the first is busy, and ends with the person', async () => {
    const { lead, buyers } = await createWaitingLead();
    const { call, hook, answer, shown } = await placeAtCarrier({ lead_id: lead });
    await hook('call_status', { CallStatus: 'ringing' });
    expect(await shown()).toMatchObject({ status: 'ringing' });
    const first = await answer('human');
    expect(dialed(first.text)).toEqual([BUYERS[0]]);
    expect(dialed((await answer('human')).text)).toEqual([BUYERS[0]]);
    const ofDial = parseXml(first.text).children.find(({ name }) => name === 'Dial')!.attributes;
    expect(ofDial.callerId).toBe('+13105550123');
    const end = (DialCallStatus: string) =>
      here.server.hook(ofDial.action!, {
        CallSid: call.call_sid,
        CallStatus: 'in-progress',
        DialCallStatus,
        ...(DialCallStatus === 'completed' && { DialBridged: 'true', DialCallDuration: '30' }),
      });
    const second = await end('busy');
    expect(dialed(second.text)).toEqual([BUYERS[1]]);
    const next = parseXml(second.text).children.find(({ name }) => name === 'Dial')!.attributes;
    await here.server.hook(next.action!, {
      CallSid: call.call_sid,
      CallStatus: 'completed',
      DialCallStatus: 'completed',
      DialBridged: 'true',
      DialCallDuration: '30',
    });
    await hook('call_status', { CallStatus: 'completed', CallDuration: '41' });
    expect(await shown()).toMatchObject({
      status: 'completed',
      answered_by: 'human',
      buyer_id: buyers[1],
      answered_duration: 30,
      total_duration: 41,
      abandoned: false,
    });
    await applyAll();
    expect(await loadLeadRow(here.world, lead)).toMatchObject({
      status: 'queue',
      connected_call_id: String(call.id),
    });
  });

  test('plays keys once a buyer is connected, and its conversion can be returned', async () => {
    const payouts = [{ traffic_source_id: null, payout_type: 'fixed', amount: 7 }];
    const { lead, buyers } = await createWaitingLead({ payouts });
    const { call, hook, answer, shown } = await placeAtCarrier({ lead_id: lead });
    const press = () =>
      distant()('post', 'calls/send_key_press', { body: { id: call.id, digits: '1' } });
    const dial = parseXml((await answer('human')).text).children.find(
      ({ name }) => name === 'Dial',
    )!;
    const early = await press();
    expect([early.status, early.body.code]).toEqual([422, 'wrong_state']);
    const leg = { CallSid: 'CAleg', From: here.companyNumber, CallStatus: 'in-progress' };
    await here.server.hook(dial.children[0]!.attributes.statusCallback!, leg);
    here.server.calls.push({ sid: 'CAleg', status: 'in-progress' });
    expect((await press()).body.errors).toEqual({});
    const meets = await here.server.hook(dial.attributes.action!, {
      CallSid: call.call_sid,
      CallStatus: 'in-progress',
      DialCallStatus: 'completed',
    });
    expect(meets.text).toContain('<Conference');
    const change = (body: object) => ok('post', `calls/update_call/${call.uuid}`, { ...body });
    await change({ buyer_converted: true, revenue: 20, offer_converted: true });
    const used = async () => {
      const [caps] = await here.world.sql(
        `SELECT buyer_conversion_total_used AS conversions, revenue_total_used::float8 AS revenue,
          earned_revenue_total_used::float8 AS earned
        FROM call_limits WHERE buyer_id = $1`,
        [buyers[0]],
      );
      return caps;
    };
    expect(await used()).toMatchObject({ conversions: 1, revenue: 20 });
    await Promise.all([
      change({ buyer_converted: false }),
      hook('call_status', { CallStatus: 'completed', CallDuration: '41' }),
    ]);
    expect(await used()).toEqual({ conversions: 0, revenue: 0, earned: 0 });
    expect(await shown()).toMatchObject({
      status: 'completed',
      buyer_converted: false,
      traffic_source_converted: false,
      revenue: 0,
      payout: 0,
    });
    await applyAll();
    expect(await loadLeadRow(here.world, lead)).toMatchObject({
      buyer_converted: false,
      offer_converted: false,
      connected_call_id: String(call.id),
    });
  });

  test.each([
    ['busy', 'busy'],
    ['no-answer', 'no_answer'],
    ['failed', 'failed'],
  ])('that is %s ends, and its lead goes on', async (CallStatus, status) => {
    const { lead } = await createWaitingLead();
    const { hook, shown } = await placeAtCarrier({ lead_id: lead });
    expect((await loadLeadRow(here.world, lead)).status).toBe('running');
    await hook('call_status', { CallStatus });
    await hook('call_status', { CallStatus });
    expect(await shown()).toMatchObject({ status, ended_at: expect.any(String) });
    await applyAll();
    expect((await loadLeadRow(here.world, lead)).status).toBe('queue');
    const lines = (await loadStory(here.world, lead)).filter((line) =>
      line.startsWith('call_changed'),
    );
    expect(lines).toEqual([`call_changed: ${status}`]);
  });

  test('a person who hangs up while a buyer rings is not abandoned', async () => {
    const { lead, buyers } = await createWaitingLead();
    const { hook, answer, shown } = await placeAtCarrier({ lead_id: lead });
    await answer('human');
    await hook('call_status', { CallStatus: 'completed', CallDuration: '6' });
    expect(await shown()).toMatchObject({
      status: 'completed',
      hangup_cause: 'person_hung_up',
      abandoned: false,
      buyer_id: buyers[0],
    });
    const [caps] = await here.world.sql(
      'SELECT concurrency_cap_used FROM call_limits WHERE buyer_id = $1',
      [buyers[0]],
    );
    expect(caps).toEqual({ concurrency_cap_used: 0 });
  });

  test('a machine is hung up on, or hears the message; a fax hears none', async () => {
    const { lead } = await createWaitingLead();
    const firstCall = await placeAtCarrier({ lead_id: lead });
    expect((await firstCall.answer('machine_start')).text).toContain('<Hangup/>');
    expect(await firstCall.shown()).toMatchObject({ answered_by: 'machine', status: 'completed' });
    const message = { lead_id: lead, machine_action: 'leave_message' };
    const secondCall = await placeAtCarrier({
      ...message,
      machine_message: 'Hello {{first_name}} & co',
    });
    const said = parseXml((await secondCall.answer('machine_end_beep')).text).children;
    expect(said.map(({ name, text }) => [name, text])).toEqual([
      ['Say', 'Hello Ann & co'],
      ['Hangup', ''],
    ]);
    await secondCall.hook('call_status', { CallStatus: 'completed', CallDuration: '9' });
    expect(await secondCall.shown()).toMatchObject({ status: 'completed', total_duration: 9 });
    const url = 'https://files.example.com/hello.mp3';
    const thirdCall = await placeAtCarrier({ ...message, machine_message: url });
    expect((await thirdCall.answer('machine_end_beep')).text).toContain(`<Play>${url}</Play>`);
    const fourthCall = await placeAtCarrier({ ...message, machine_message: url });
    expect((await fourthCall.answer('fax')).text).not.toContain('Play');
    expect((await ok('get', `offers/${(await fourthCall.shown()).offer_id}`)).offer.paused).toBe(
      false,
    );
  });

  test('without a buyer the person hears the message of the offer', async () => {
    const { lead, offer } = await createWaitingLead({ abandoned_message: 'This was Acme.' });
    const { answer, shown } = await placeAtCarrier({ lead_id: lead });
    await ok('put', `offers/${offer}`, { paused: true });
    expect((await answer('unknown')).text).toContain('<Say>This was Acme.</Say><Hangup/>');
    expect(await shown()).toMatchObject({ abandoned: true, hangup_cause: 'offer_paused' });
  });

  test('nor is a buyer rung for a person who has waited for two seconds', async () => {
    const { lead, buyers } = await createWaitingLead({ abandoned_message: 'This was Acme.' });
    const { call, shown } = await placeAtCarrier({ lead_id: lead });
    const now = here.time.read();
    const answeredAt = new Date(now.getTime() - 2_001);
    const db = here.world.deps.tenants.of(here.world.company.id);
    const answer = {
      key: call.uuid,
      call_sid: call.call_sid,
      answered_by: 'human',
      answered_at: answeredAt,
    };
    await answerCall(db, answer as Parameters<typeof answerCall>[1], now);
    expect(await shown()).toMatchObject({
      abandoned: true,
      hangup_cause: 'abandoned',
      attempts_count: 0,
      buyer_id: null,
    });
    const [caps] = await here.world.sql(
      'SELECT attempt_total_used FROM call_limits WHERE buyer_id = $1',
      [buyers[0]],
    );
    expect(caps).toEqual({ attempt_total_used: 0 });
  });

  test('that was never placed by us, or comes in, has no answer', async () => {
    const { lead } = await createWaitingLead();
    const { hook } = await placeAtCarrier({ lead_id: lead });
    const unknown = 'key=01900000-0000-7000-8000-000000000000';
    expect((await hook('answer', { AnsweredBy: 'human' }, unknown)).status).toBe(404);
  });
});

test('a call with a fixed destination is connected there once a person has answered', async () => {
  const { schedule } = await here.shop();
  const fixed = await placeAtCarrier({ to: '+13105550190', schedule_id: schedule.id });
  expect(fixed.form.get('Twiml')).toContain('+13105550199');
  const screenedCall = await placeAtCarrier({
    to: '+13105550190',
    schedule_id: schedule.id,
    machine_action: 'hang_up',
  });
  expect(screenedCall.form.get('Twiml')).toBeNull();
  const { text } = await screenedCall.answer('human');
  expect(dialed(text)).toEqual(['+13105550199']);
  expect(text).toContain(`callerId="${here.companyNumber}"`);
});

test.each(['break after accepting', 'hang after accepting'] as const)(
  'a call whose placing was lost (%s) is found at the carrier, and routed once',
  async (trouble) => {
    const { lead, buyers } = await createWaitingLead();
    // The carrier's clock is the real one.
    here.time.set(new Date().toISOString());
    here.server.trouble([trouble]);
    expect((await distant()('post', 'calls', { body: { lead_id: lead } })).status).toBe(503);
    here.server.calls[0]!.status = 'ringing';
    const { call, shown } = await placeAtCarrier({ lead_id: lead });
    expect([here.server.calls.length, (await here.counted())[1]]).toEqual([1, 1]);
    expect(call.call_sid).toBe(here.server.calls[0]!.sid);
    const url = here.server.requests[0]!.form.get('Url')!;
    const params = { CallSid: call.call_sid, From: here.companyNumber, AnsweredBy: 'human' };
    expect(dialed((await here.server.hook(url, params)).text)).toEqual([BUYERS[0]]);
    expect(await shown()).toMatchObject({ buyer_id: buyers[0], attempts_count: 1 });
  },
);

test('two reports of one answer at the same time ring one buyer', async () => {
  const { lead, buyers } = await createWaitingLead();
  const { answer, shown } = await placeAtCarrier({ lead_id: lead });
  const replies = await Promise.all([answer('human'), answer('human'), answer('human')]);
  expect(replies.map(({ text }) => dialed(text))).toEqual(Array(3).fill([BUYERS[0]]));
  expect(await shown()).toMatchObject({ attempts_count: 1, buyer_id: buyers[0] });
});
