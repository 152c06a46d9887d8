import { ownNumber } from '../../support/leads';
import { CALLER, dialed, softswitch } from '../../support/softswitch';

/** Monday 08:30 in New York. */
const here = softswitch('2026-06-01T12:30:00Z');
const { ok, buyer, offer, group, begin, report, later, newNumber } = here;

type Fields = Record<string, unknown>;

/** Each decision about a call: why each buyer was passed over, or null. */
const loadReasons = async (call: { id: number }) => {
  const { decisions } = await ok('get', `calls/${call.id}/decision`);
  return decisions.map(
    ({ candidates }: { candidates: { buyer_id: number; reason: string | null }[] }) =>
      Object.fromEntries(candidates.map(({ buyer_id, reason }) => [buyer_id, reason])),
  );
};
const countSlots = async () =>
  (
    await here.world.sql<{ n: number }>(
      `SELECT coalesce(sum(concurrency_cap_used), 0)::int AS n
      FROM call_limits WHERE company_id = $1`,
      [here.world.company.id],
    )
  )[0]!.n;

describe('a call', () => {
  test('goes to the buyer of the lowest tier, with what is needed to dial it', async () => {
    const fields = {
      number: '+12125550199',
      dtmf_tones: '1w2',
      record_calls: true,
      user_buyer_id: 'ada',
      name: 'Ada',
    };
    const [second, first] = [await buyer({ tier: 2 }), await buyer(fields)];
    const call = await begin(await offer({ buyer_ids: [second, first] }));
    const { dial, ...instruction } = call.instruction;
    expect(instruction).toEqual({
      action: 'dial',
      reason: null,
      message: null,
      greeting: null,
      attempt: null,
      prompt: null,
      cancel: [],
      fallback: null,
      max_seconds: 14_400,
      sip_status: null,
      sip_reason: null,
      report_within_seconds: 90,
      key_presses: [],
    });
    const expected = {
      buyer_id: first,
      user_buyer_id: 'ada',
      name: 'Ada',
      buyer_group_id: null,
      number: '+12125550199',
      timeout_seconds: 30,
      caller_id: CALLER,
    };
    expect(dial).toEqual([
      {
        ...expected,
        attempt: expect.any(String),
        dtmf_tones: '1w2',
        press_one_to_accept: false,
        record_calls: true,
        trunk: null,
        headers: {},
      },
    ]);
    expect(await ok('get', `call_sessions/${call.uuid}`)).toMatchObject({
      call_session: { ...call },
    });
  });

  test('that is answered and ends releases its slots, and counts', async () => {
    const id = await buyer({ concurrency_cap_limit: 1 });
    const call = await begin(await offer({ buyer_ids: [id] }));
    expect(await countSlots()).toBe(1);
    expect((await report(call, 'ringing')).action).toBe('wait');
    later(5);
    expect(await report(call, 'answered')).toMatchObject({
      action: 'connect',
      attempt: call.instruction.dial[0].attempt,
      report_within_seconds: 900,
    });
    later(65);
    expect((await report(call, 'completed')).action).toBe('hang_up');
    expect(await countSlots()).toBe(0);
    const [row] = await here.world.sql(
      `SELECT status, total_duration, answered_duration, hangup_cause, buyer_id
      FROM calls WHERE id = $1`,
      [call.id],
    );
    expect(row).toEqual({
      status: 'completed',
      total_duration: 70,
      answered_duration: 65,
      hangup_cause: 'completed',
      buyer_id: String(id),
    });
    const { buyer: after } = await ok('get', `buyers/${id}`);
    expect(after).toMatchObject({
      attempt_total_used: 1,
      connection_total_used: 1,
      concurrency_cap_used: 0,
      last_call_at: '2026-06-01T12:30:00.000+00:00',
    });
  });

  test.each(['no_answer', 'busy', 'failed'])(
    'goes to the next buyer after %s, never to the same one again, and ends with the fallback',
    async (event) => {
      const [firstBuyer, secondBuyer] = [await buyer({ tier: 1 }), await buyer({ tier: 2 })];
      const fallback = { fallback_type: 'message', fallback_message: 'Sorry.' };
      const call = await begin(await offer({ buyer_ids: [firstBuyer, secondBuyer], ...fallback }));
      expect(dialed(call.instruction)).toEqual([firstBuyer]);
      const second = await report(call, event);
      expect([second.action, dialed(second)]).toEqual(['dial', [secondBuyer]]);
      expect(await report(call, event)).toMatchObject({
        action: 'fallback',
        message: 'Sorry.',
        reason: 'no_buyer_available',
        fallback: { type: 'message', message: 'Sorry.', number: null },
      });
      expect(await loadReasons(call)).toEqual([
        { [firstBuyer]: null, [secondBuyer]: null },
        { [firstBuyer]: 'already_tried', [secondBuyer]: null },
        { [firstBuyer]: 'already_tried', [secondBuyer]: 'already_tried' },
      ]);
      expect(await countSlots()).toBe(0);
    },
  );

  test('with press-one goes to the next buyer if declined, and connects at the key', async () => {
    const [firstBuyer, secondBuyer] = [
      await buyer({ tier: 1, press_one_to_accept: true }),
      await buyer({ tier: 2, press_one_to_accept: true }),
    ];
    const call = await begin(await offer({ buyer_ids: [firstBuyer, secondBuyer] }));
    expect(await report(call, 'answered')).toMatchObject({
      action: 'ask_for_key',
      attempt: call.instruction.dial[0].attempt,
    });
    const second = await report(call, 'key_press', { key: '2' });
    expect(dialed(second)).toEqual([secondBuyer]);
    await report(call, 'answered');
    expect(await report(call, 'key_press', { key: '1' })).toMatchObject({
      action: 'connect',
      attempt: second.dial[0].attempt,
    });
    const statuses = await here.world.sql(
      'SELECT status FROM call_attempts WHERE call_id = $1 ORDER BY id',
      [call.id],
    );
    expect(statuses).toEqual([{ status: 'declined' }, { status: 'connected' }]);
  });

  test('of a group that rings at once goes to the first to answer', async () => {
    const members = [await buyer(), await buyer({ concurrency_cap_limit: 1 }), await buyer()];
    const id = await group({
      dial_buyers_type: 'simultaneously',
      buyer_ids: members,
      concurrency_cap: 5,
    });
    const call = await begin(await offer({ buyer_group_ids: [id] }));
    expect(dialed(call.instruction).sort()).toEqual(members);
    expect(await countSlots()).toBe(4);
    const [a, b, c] = call.instruction.dial.map(({ attempt }: { attempt: string }) => attempt);
    expect((await report(call, 'busy', { attempt: a })).action).toBe('wait');
    expect(await report(call, 'answered', { attempt: b })).toMatchObject({
      action: 'connect',
      attempt: b,
      cancel: [c],
    });
    expect(await countSlots()).toBe(2);
    expect(await report(call, 'answered', { attempt: c })).toMatchObject({
      action: 'connect',
      attempt: b,
    });
    await report(call, 'completed');
    expect(await countSlots()).toBe(0);
    const { buyer_group } = await ok('get', `buyer_groups/${id}`);
    expect(buyer_group).toMatchObject({
      attempt_total_used: 1,
      connection_total_used: 1,
      concurrency_cap_used: 0,
    });
  });

  test('to a number that forwards to a buyer goes to that buyer only, by its caps', async () => {
    const id = await buyer({ attempt_total_limit: 2 });
    await buyer();
    const numberCalled = newNumber('+1212777');
    const numberId = await ownNumber(here.world, here.world.company, numberCalled.slice(1));
    const callTo = (more: Fields = {}) =>
      here.world.company.api('post', 'call_sessions', {
        body: { number_called: numberCalled, caller_number: CALLER, ...more },
      });
    expect((await callTo()).body.errors).toEqual({
      number_called: ['belongs to no offer and forwards to no buyer; give offer_id'],
    });
    await here.world.sql(
      "UPDATE numbers SET forward_type = 'buyer_id', buyer_id = $2 WHERE id = $1",
      [numberId, id],
    );
    const first = (await callTo()).body.call_session;
    expect([first.offer_id, dialed(first.instruction)]).toEqual([null, [id]]);
    await report(first, 'answered');
    await report(first, 'completed');
    const second = (await callTo()).body.call_session;
    expect(await report(second, 'busy')).toMatchObject({
      action: 'hang_up',
      reason: 'no_buyer_available',
    });
    expect(await loadReasons(second)).toEqual([{ [id]: null }, { [id]: 'already_tried' }]);
    expect((await callTo()).body.call_session.instruction).toMatchObject({
      action: 'hang_up',
      reason: 'no_buyer_available',
    });
    expect((await ok('get', `buyers/${id}`)).buyer).toMatchObject({
      attempt_total_used: 2,
      connection_total_used: 1,
      concurrency_cap_used: 0,
    });
    const { decisions } = await ok('get', `calls/${second.id}/decision`);
    expect(decisions[1]).toMatchObject({
      offer_id: null,
      message: 'the buyer that the number forwards to cannot take the call',
    });
    const offerId = await offer({});
    expect((await callTo({ offer_id: offerId })).body.call_session).toMatchObject({
      offer_id: offerId,
      instruction: { reason: 'no_buyers' },
    });
  });

  test('reported twice with its call_sid is one call', async () => {
    const id = await buyer();
    const offerId = await offer({ buyer_ids: [id] });
    const send = () =>
      here.world.company.api('post', 'call_sessions', {
        body: { offer_id: offerId, caller_number: CALLER, call_sid: 'x-1' },
      });
    const answers = await Promise.all(Array.from({ length: 10 }, send));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.call_session.uuid)).size).toBe(1);
    expect((await ok('get', `buyers/${id}`)).buyer.attempt_total_used).toBe(1);
  });
});
