import { dialed, softswitch } from '../../support/softswitch';

/** Monday 08:30 in New York. */
const here = softswitch('2026-06-01T12:30:00Z');
const { ok, buyer, offer, begin, report, later } = here;

type Fields = Record<string, unknown>;

const start = async (fields: Fields = {}, terms: Fields = {}) =>
  begin(await offer({ buyer_ids: [await buyer(fields)], ...terms }));
const listEvents = async ({ id }: { id: number }) => {
  const { call_events } = await ok('get', `calls/${id}/events?per_page=100`);
  return call_events as { event: string; message: string | null; details: Fields | null }[];
};
const showCall = async ({ id }: { id: number }) => (await ok('get', `calls/${id}`)).call;

describe('a call of a softswitch', () => {
  test('is found, and its events are reported, by its own identifier', async () => {
    const sid = 'a84b/4c76%e66710+@192.0.2.1;x=1';
    const call = await begin(await offer({ buyer_ids: [await buyer()] }), { call_sid: sid });
    const own = `call_sessions/${encodeURIComponent(`sid:${sid}`)}`;
    expect((await ok('get', own)).call_session.uuid).toBe(call.uuid);
    const answered = await ok('post', `${own}/events`, { event: 'answered' });
    expect(answered.call_session.instruction.action).toBe('connect');
    const unknown = await here.world.api('get', 'call_sessions/sid:other');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
  });

  test('has what its SIP request says as tokens, which filters can use', async () => {
    const filter = { record_token_filter_list: ['sip_attestation:A'] };
    const [trusting, any] = [await buyer({ tier: 1, ...filter }), await buyer({ tier: 2 })];
    const id = await offer({ buyer_ids: [trusting, any] });
    const sip = {
      attestation: 'B',
      diversion: '<sip:+13105550100@carrier.example>;reason=unconditional',
      headers: { 'X-Campaign': 'spring', 'User-Agent': 'edge' },
    };
    const call = await begin(id, { sip });
    expect(dialed(call.instruction)).toEqual([any]);
    const trusted = await begin(id, { sip: { attestation: 'A' } });
    expect(dialed(trusted.instruction)).toEqual([trusting]);
    const [row] = await here.world.sql<{ tokens: Fields }>(
      'SELECT token_values AS tokens FROM calls WHERE id = $1',
      [call.id],
    );
    expect(row!.tokens).toMatchObject({
      sip_attestation: 'B',
      sip_diversion: sip.diversion,
      sip_x_campaign: 'spring',
      sip_user_agent: 'edge',
    });
    const body = { offer_id: String(id), sip: { headers: { '--': 'x' } } };
    const [status, errors] = await here.errors('call_sessions', body);
    expect([status, Object.keys(errors)]).toEqual([422, ['sip.headers']]);
  });

  test('is greeted before the first buyers are dialed, and not again', async () => {
    const greeting = 'This call is recorded.';
    const ids = [await buyer({ tier: 1 }), await buyer({ tier: 2 })];
    const call = await begin(await offer({ buyer_ids: ids, greeting_message: greeting }), {
      call_sid: 'greeted',
    });
    expect(call.instruction).toMatchObject({ action: 'dial', greeting });
    const lost = await ok('get', 'call_sessions/sid:greeted');
    expect(lost.call_session.instruction).toMatchObject({ greeting });
    expect(await report(call, 'busy')).toMatchObject({ action: 'dial', greeting: null });
  });

  test('asks a buyer in words to press 1', async () => {
    const call = await start({ press_one_to_accept: true });
    expect(await report(call, 'answered')).toMatchObject({
      action: 'ask_for_key',
      prompt: 'Press 1 to take this call.',
    });
    expect(await report(call, 'key_press', { key: '1' })).toMatchObject({ prompt: null });
  });
});

describe('the end of ringing', () => {
  test.each([
    [{ sip_code: 486 }, 'busy', 'the far end answered 486'],
    [{ sip_code: 600 }, 'busy', 'the far end answered 600'],
    [{ sip_code: 480 }, 'no_answer', 'the far end answered 480'],
    [{ sip_code: 603 }, 'declined', 'the far end answered 603'],
    [{ q850: 17 }, 'busy', 'the far end answered 17'],
    [{ q850: 19 }, 'no_answer', 'the far end answered 19'],
    [{ sip_code: 486, q850: 19 }, 'busy', 'the far end answered 486'],
    [{ sip_code: 404 }, 'failed', 'the buyer has no such number (404)'],
    [{ sip_code: 604 }, 'failed', 'the buyer has no such number (604)'],
    [{ q850: 1 }, 'failed', 'the buyer has no such number (1)'],
    [{ sip_code: 500 }, 'failed', 'the far end answered 500'],
    [{}, 'failed', null],
  ])('with %j is %s', async (codes, status, message) => {
    const call = await start();
    await report(call, 'failed', codes);
    const { call_attempts } = await ok('get', `calls/${call.id}/attempts`);
    expect(call_attempts).toMatchObject([{ status }]);
    const event = (await listEvents(call)).find(({ event: kind }) => kind === 'failed')!;
    expect(event.message).toBe(message);
    expect(event.details ?? {}).toMatchObject(codes);
  });

  test('tells a switch how to refuse a caller', async () => {
    const refusal = async (id: number, fields: Fields = {}) => {
      const { instruction } = await begin(id, fields);
      const { action, sip_status, sip_reason, max_seconds } = instruction;
      return { action, sip_status, sip_reason, max_seconds };
    };
    const none = { action: 'hang_up', max_seconds: null };
    const open = await offer({ buyer_ids: [await buyer()] });
    expect(await refusal(await offer({ buyer_ids: [] }))).toEqual({
      ...{ ...none, sip_status: 480, sip_reason: 'Temporarily Unavailable' },
    });
    const blocked = '+13105550177';
    await ok('post', 'contacts/caller_block', { caller_ids: [blocked] });
    expect(await refusal(open, { caller_number: blocked })).toEqual({
      ...{ ...none, sip_status: 603, sip_reason: 'Decline' },
    });
    const source = await here.world.create('traffic_sources', {
      name: 'Full',
      attempt_daily_limit: 0,
    });
    const full = { traffic_source_id: String(source) };
    expect(await refusal(open, full)).toEqual({
      ...{ ...none, sip_status: 486, sip_reason: 'Busy Here' },
    });
    const talked = await begin(open);
    await report(talked, 'answered');
    expect(await report(talked, 'completed')).toMatchObject({ sip_status: null, sip_reason: null });
  });
});

describe('a call in progress', () => {
  test('keeps what happens to it, with who did it', async () => {
    const call = await start();
    await report(call, 'early_media', { leg_sid: 'leg-7' });
    await report(call, 'answered', { leg_sid: 'leg-7' });
    later(10);
    await report(call, 'held', { by: 'buyer' });
    await report(call, 'resumed', { by: 'buyer' });
    const transferred = await report(call, 'transferred', { by: 'buyer', number: '+13105550111' });
    expect(transferred.action).toBe('connect');
    later(20);
    await report(call, 'completed', { by: 'caller' });
    const events = await listEvents(call);
    expect(events.map(({ event, details }) => [event, details?.by ?? null])).toEqual(
      expect.arrayContaining([
        ['early_media', null],
        ['held', 'buyer'],
        ['resumed', 'buyer'],
        ['transferred', 'buyer'],
        ['completed', 'caller'],
      ]),
    );
    expect(events.find(({ event }) => event === 'transferred')).toMatchObject({
      message: 'to +13105550111',
    });
    expect(await showCall(call)).toMatchObject({
      hangup_cause: 'caller_hung_up',
      answered_duration: 30,
    });
  });

  test('that no buyer has taken is not held', async () => {
    const call = await start();
    expect((await report(call, 'held')).action).toBe('wait');
    expect((await listEvents(call)).map(({ event }) => event)).not.toContain('held');
  });
});

describe('a fallback', () => {
  const message = { fallback_type: 'message', fallback_message: 'Sorry.' };

  test('that is over is not given again', async () => {
    const call = await start({}, message);
    expect((await report(call, 'busy')).action).toBe('fallback');
    expect((await report(call, 'fallback_started')).action).toBe('fallback');
    const ended = await report(call, 'fallback_ended', { duration: 4, hangup_cause: 'played' });
    expect(ended).toMatchObject({ action: 'hang_up', fallback: null });
    expect((await report(call, 'fallback_ended')).action).toBe('hang_up');
    expect((await report(call, 'completed')).action).toBe('hang_up');
    const session = await ok('get', `call_sessions/${call.uuid}`);
    expect(session.call_session.instruction.action).toBe('hang_up');
    const events = (await listEvents(call)).filter(({ event }) => event.startsWith('fallback_'));
    expect(events.map(({ event, details }) => [event, details?.duration ?? null])).toEqual(
      expect.arrayContaining([
        ['fallback_started', null],
        ['fallback_ended', 4],
      ]),
    );
    expect(events).toHaveLength(2);
  });

  test('is over when the caller leaves', async () => {
    const call = await start({}, message);
    await report(call, 'busy');
    expect((await report(call, 'completed')).action).toBe('hang_up');
    expect((await listEvents(call)).map(({ event }) => event)).toContain('fallback_ended');
  });

  test('cannot be reported of a call that has none', async () => {
    const call = await start();
    const refused = await here.world.api('post', `call_sessions/${call.uuid}/events`, {
      body: { event: 'fallback_started' },
    });
    expect([refused.status, refused.body.code]).toEqual([422, 'wrong_state']);
  });
});
