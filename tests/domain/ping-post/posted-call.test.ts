import { all, CALLER, sellers } from '../../support/sellers';

const here = sellers();
const { ok, later, buyer, shop, ask, ping, post, call, sweep, used, holds, buyNumber } = here;

describe('the call of a post', () => {
  test('takes over the reservation; caps count once and are released at the end', async () => {
    const id = await buyer({
      tier: 1,
      attempt_total_limit: 1,
      concurrency_cap_limit: 1,
      record_token_filter_list: ['state:CA'],
    });
    const at = await shop([id]);
    await buyNumber(at);
    const { buyers } = await ping(at, { data: { state: 'CA' }, sub_id: 'ad-7' });
    const { forwarding_number } = await post(at, { ping_id: buyers[0].ping_id, zip: '90012' });
    const session = (
      await ok('call_sessions', { number_called: forwarding_number, caller_number: CALLER })
    ).call_session;
    expect(session.instruction).toMatchObject({ action: 'dial', dial: [{ buyer_id: id }] });
    expect([await used(id), await holds()]).toEqual([all(1), 0]);
    const [row] = await here.world.sql('SELECT sub_id, token_values FROM calls WHERE id = $1', [
      session.id,
    ]);
    expect(row).toEqual({ sub_id: 'ad-7', token_values: { state: 'CA', zip: '90012' } });
    expect((await post(at, { ping_id: buyers[0].ping_id, zip: '90012' })).call_uuid).toBe(
      session.uuid,
    );
    later(600);
    expect(await sweep()).toBe(0);
    await ok(`call_sessions/${session.id}/events`, { event: 'completed' });
    expect(await used(id)).toEqual([1, 1, 1, 1, 0]);
    const { decisions } = (await here.world.company.api('get', `calls/${session.id}/decision`))
      .body;
    expect(decisions[0].candidates).toMatchObject([
      { buyer_id: id, chosen: true, rank: 1, reason: null },
    ]);
    expect(decisions[0].caps).toContainEqual(
      expect.objectContaining({ cap: 'attempt_total', used: 0, limit: 1, buyer_id: id }),
    );
  });

  test('uses each of two reservations once, with six simultaneous calls', async () => {
    const id = await buyer({ attempt_total_limit: 2 });
    const at = await shop([id]);
    await buyNumber(at);
    await ping(at);
    await ping(at);
    const calls = await Promise.all(Array.from({ length: 6 }, () => call(at)));
    expect(calls.filter(({ instruction }) => instruction.action === 'dial')).toHaveLength(2);
    expect([await used(id), await holds()]).toEqual([all(2), 0]);
  });

  test('of another caller, or after the time, has no reservation', async () => {
    const id = await buyer({ attempt_total_limit: 1 });
    const at = await shop([id]);
    await buyNumber(at);
    await ping(at);
    expect((await call(at, '+13105550102')).instruction.action).not.toBe('dial');
    later(60);
    expect((await call(at)).instruction.action).not.toBe('dial');
    await sweep();
    expect((await call(at)).instruction.action).toBe('dial');
  });

  test('of a caller who was blacklisted meanwhile is not connected', async () => {
    const id = await buyer();
    const at = await shop([id]);
    await buyNumber(at);
    await ping(at);
    await ok('contacts/caller_block', { caller_ids: [CALLER] });
    expect((await call(at)).instruction.action).toBe('hang_up');
    later(60);
    await sweep();
    expect(await used(id)).toEqual(all(0));
  });

  test('that goes directly to the buyer counts, and its slot is released', async () => {
    const id = await buyer({ number: '+12125550177' });
    const at = await shop([id]);
    const { forwarding_number } = await ask('full', at, { caller_id: CALLER });
    expect(forwarding_number).toBe('+12125550177');
    later(60);
    await sweep();
    expect(await used(id)).toEqual([1, 1, 1, 1, 0]);
  });
});
