import { applyCalls } from '../../../src/domain/leads/apply-calls';
import { DIAL, NOON, runEngine, SMS, wait } from '../../support/leads';
import { repetitions } from '../../support/repetitions';
import { BYE, NAG, useScheduleEvents } from '../../support/schedule-events';
import { leadUpdate } from '../../support/write-leads';

const here = useScheduleEvents();
const { addBuyer, call, convert, events, hours, loadLead, ok, report } = here;
const { settle, startLead, status, text, texts, time, world } = here;

describe('exit_on', () => {
  test('is what a schedule has, by default conversions and opt-outs', async () => {
    const { schedule } = await ok('post', 'schedules', { name: 'A' });
    expect(schedule).toMatchObject({ exit_on: ['converted', 'opted_out'], triggers: [] });
    const all = ['connected', 'converted', 'inbound_call', 'replied', 'opted_out'];
    const put = (body: object) => world.company.api('put', `schedules/${schedule.id}`, { body });
    expect((await put({ exit_on: [...all, 'replied'] })).body.schedule.exit_on).toEqual(all);
    expect((await put({ exit_on: [] })).body.schedule.exit_on).toEqual([]);
    expect(Object.keys((await put({ exit_on: ['sold'] })).body.errors)).toEqual(['exit_on.0']);
  });

  /** Each makes happen what ends the schedule of a lead. */
  const happenings: Record<string, (offer: number) => Promise<unknown>> = {
    connected: async (offer) => {
      await addBuyer(offer);
      await report((await call(offer)).id, 'answered');
    },
    inbound_call: (offer) => call(offer),
    replied: () => text('Who is this?'),
    converted: async (offer) => {
      await addBuyer(offer);
      const { id, uuid } = await call(offer);
      await report(id, 'answered');
      await convert(uuid);
    },
    opted_out: () => text('STOP'),
  };
  const names = Object.keys(happenings);

  test.each(names)('%s ends the schedule, and nothing but the end is done', async (name) => {
    const { lead, offer } = await startLead([...NAG, BYE], {}, { exit_on: [name] });
    await happenings[name]!(offer);
    await settle();
    await hours(2);
    const isSilent = name === 'converted' || name === 'opted_out';
    expect(await texts(lead)).toEqual(['Hello', ...(isSilent ? [] : ['Bye'])]);
    expect(await events(lead)).toContain(`left_schedule: ${name}`);
    expect((await loadLead(lead)).is_live).toBe(false);
  });

  test.each(names)('%s ends nothing where the schedule does not say so', async (name) => {
    const exitOn = names.filter(
      // A conversion comes with a connected call that came in.
      (candidate) =>
        candidate !== name && !['connected', 'inbound_call', 'replied'].includes(candidate),
    );
    const { lead, offer } = await startLead([...NAG, BYE], {}, { exit_on: exitOn });
    await happenings[name]!(offer);
    await settle();
    expect(await events(lead)).not.toContain(`left_schedule: ${name}`);
    await hours(2);
    expect(await texts(lead)).toEqual(name === 'opted_out' ? ['Hello'] : ['Hello', 'Again', 'Bye']);
  });

  test('after a conversion the end has no contacts, but its webhooks', async () => {
    const HOOK = {
      action_type: 'webhook',
      url: 'https://example.com/x',
      method: 'post',
      end: true,
    };
    const { lead, offer } = await startLead([...NAG, HOOK, BYE, { ...DIAL, end: true }]);
    await happenings.converted!(offer);
    await settle();
    await hours(5);
    expect([await texts(lead), await status(lead)]).toEqual([['Hello'], 'completed_converted']);
    const logged = await events(lead);
    expect(logged.filter((line) => line.startsWith('webhook'))).toHaveLength(1);
    expect((await ok('get', `leads/${lead}/timeline`)).timeline?.planned ?? []).toEqual([]);
  });

  test('an opt-out ends it for good: who comes back is not in it any more', async () => {
    const { lead } = await startLead(NAG);
    await text('STOP');
    await text('START');
    await hours(2);
    expect([await texts(lead), (await loadLead(lead)).status]).toEqual([['Hello'], 'opt_out']);
    expect((await loadLead(lead)).is_live).toBe(false);
  });

  test('a callback that the lead has asked for is canceled with it', async () => {
    const { lead, offer } = await startLead([wait(1), DIAL], { schedule_callback_in_seconds: 60 });
    await happenings.converted!(offer);
    await hours(3);
    const [callback] = await world.sql(
      'SELECT status FROM scheduled_callbacks WHERE lead_id = $1',
      [lead],
    );
    expect(callback).toEqual({ status: 'canceled' });
    expect((await loadLead(lead)).last_action_at).toBe(null);
  });

  const returnCall = (uuid: string) =>
    ok('post', `calls/update_call/${uuid}`, { buyer_converted: false });

  test('a lead that has left by a conversion stays out when it is returned', async () => {
    const { lead, offer } = await startLead(NAG);
    await addBuyer(offer);
    const { id, uuid } = await call(offer);
    await report(id, 'answered');
    await convert(uuid);
    await settle();
    await returnCall(uuid);
    await hours(2);
    expect(await texts(lead)).toEqual(['Hello']);
    expect(await loadLead(lead)).toMatchObject({ is_live: false, buyer_converted: false });
  });

  test('the return of one of two conversions is not taken for a conversion', async () => {
    const { lead, offer, schedule } = await startLead([...NAG, BYE], {}, { exit_on: [] });
    await addBuyer(offer);
    const uuids = [];
    for (let n = 0; n < 2; n++) {
      const { id, uuid } = await call(offer);
      await report(id, 'answered');
      await convert(uuid);
      await report(id, 'completed');
      uuids.push(uuid);
    }
    await ok('put', `schedules/${schedule}`, { exit_on: ['converted'] });
    await returnCall(uuids[0]!);
    await settle();
    expect(await events(lead)).not.toContain('left_schedule: converted');
    expect(await loadLead(lead)).toMatchObject({ is_live: true, buyer_converted: true });
    await returnCall(uuids[1]!);
    expect(await loadLead(lead)).toMatchObject({ is_live: true, buyer_converted: false });
  });

  test('STOP, START and HELP are no replies', async () => {
    const { lead } = await startLead(NAG, {}, { exit_on: ['replied'] });
    await text('HELP');
    await hours(2);
    expect(await texts(lead)).toEqual(['Hello', 'Again']);
  });
});

describe('a conversion and a due step at the same moment', () => {
  /** A lead whose next text is due, on a call that is connected. */
  async function createDueLead() {
    const { lead, offer } = await startLead([...NAG, wait(1), { ...SMS, body: 'Last' }]);
    await addBuyer(offer);
    const { id, uuid } = await call(offer);
    await report(id, 'answered');
    await applyCalls(world.deps.database.pool, time.read());
    time.set('2027-01-12T18:30:00Z');
    return { lead, uuid };
  }

  test('while the conversion is not committed the step waits, and then is not done', async () => {
    const { lead } = await createDueLead();
    const client = await world.deps.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        leadUpdate('buyer_converted = true, updated_at = $2', 'l.id = $1', "'converted'"),
        [lead, time.read()],
      );
      const engine = runEngine(world);
      await runEngine(world);
      await client.query('COMMIT');
      await engine;
    } finally {
      client.release();
    }
    await runEngine(world);
    expect([await texts(lead), await status(lead)]).toEqual([['Hello'], 'completed_converted']);
  });

  test('a worker that has claimed the lead finds its claim gone', async () => {
    const { lead, uuid } = await createDueLead();
    await world.sql(
      `UPDATE leads SET claim_id = gen_random_uuid(), due_at = due_at + interval '20 s' WHERE id = $1`,
      [lead],
    );
    await convert(uuid);
    const [row] = await world.sql('SELECT claim_id, phase, due_at FROM leads WHERE id = $1', [
      lead,
    ]);
    expect(row).toEqual({ claim_id: null, phase: 'end', due_at: time.read() });
    await runEngine(world);
    expect(await texts(lead)).toEqual(['Hello']);
  });

  test('raced: a text is never sent after the conversion', async () => {
    for (let n = 0; n < repetitions(8, 60); n++) {
      time.set(NOON);
      world.company = await world.addCompany();
      const { lead, uuid } = await createDueLead();
      await Promise.all([runEngine(world), convert(uuid), runEngine(world)]);
      await runEngine(world);
      const rows = await world.sql<{ kind: string }>(
        `SELECT event AS kind FROM lead_logs WHERE lead_id = $1 ORDER BY id`,
        [lead],
      );
      const order = rows.map(({ kind }) => kind);
      expect(order.lastIndexOf('sms_sent')).toBeLessThan(order.indexOf('left_schedule'));
      expect(await status(lead)).toBe('completed_converted');
    }
  });
});
