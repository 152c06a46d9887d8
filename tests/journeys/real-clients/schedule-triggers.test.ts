import { startTriggered } from '../../../src/domain/leads/start-triggered';
import { DIAL, SMS } from '../../support/leads';
import { repetitions } from '../../support/repetitions';
import { NAG, useScheduleEvents } from '../../support/schedule-events';
import type { Fields } from '../../support/records';
import { addRecording } from '../../support/recorded-calls';
import { leadInsert } from '../../support/write-leads';

const here = useScheduleEvents();
const { addBuyer, call, convert, hours, listLeads, ok, report } = here;
const { settle, startLead, submitted, text, texts, time, world } = here;

describe('triggers', () => {
  /** A schedule that texts whom its triggers start. */
  const createTriggered = async (offerId: number | null, triggers: object[], more: Fields = {}) =>
    (await ok('post', 'schedules', { name: 'Then', offer_id: offerId, triggers, ...more })).schedule
      .id as number;
  const act = (scheduleId: number, action: object) =>
    ok('post', 'schedule_actions', { schedule_id: scheduleId, ...action });

  test('are written, read and replaced with the schedule', async () => {
    const id = await createTriggered(null, [{ on: 'call_missed' }]);
    const shown = async () => (await ok('get', `schedules/${id}`)).schedule.triggers;
    expect(await shown()).toEqual([{ on: 'call_missed', token_filter_list: [] }]);
    const triggers = [{ on: 'lead_created', token_filter_list: ['state:CA'] }];
    expect((await ok('put', `schedules/${id}`, { triggers })).schedule.triggers).toEqual(triggers);
    await ok('put', `schedules/${id}`, { name: 'Other' });
    expect(await shown()).toEqual(triggers);
    for (const wrong of [[{ on: 'noon' }], [{}], [{ on: 'call_missed', token_filter_list: ['x'] }]])
      expect(
        (await world.company.api('put', `schedules/${id}`, { body: { triggers: wrong } })).status,
      ).toBe(422);
    await ok('put', `schedules/${id}`, { triggers: [] });
    expect(await shown()).toEqual([]);
  });

  test('lead_created starts it with the data of the lead, once', async () => {
    const { lead, offer, schedule } = await submitted([], { first_name: 'Ann', email: 'a@b.co' });
    const id = await createTriggered(offer, [{ on: 'lead_created' }]);
    await act(id, SMS);
    await settle();
    expect(await listLeads(id)).toEqual([]);
    await world.company.api('post', 'leads/capture', {
      body: { schedule_id: schedule, caller_id: '+13105550124', first_name: 'Bo', email: 'b@c.co' },
    });
    await Promise.all([1, 2, 3].map(() => startTriggered(world.deps)));
    await settle();
    const [started, ...otherLeads] = await listLeads(id);
    expect([started, otherLeads]).toMatchObject([
      { caller_id: '+13105550124', data: { first_name: 'Bo' }, email: 'b@c.co', offer_id: offer },
      [],
    ]);
    expect(await texts(started!.id)).toEqual(['Hello']);
    const logs = await ok('get', `lead_logs?lead_id=${started!.id}`);
    expect(logs.lead_logs[0].message).toBe('started by the trigger lead_created');
    expect(
      await world.sql('SELECT id FROM schedule_events WHERE company_id = $1', [world.company.id]),
    ).toEqual([]);
    expect(lead).not.toBe(started!.id);
  });

  test('call_missed starts it for a caller without a lead, with the tokens of the call', async () => {
    const { offer } = await submitted([]);
    const id = await createTriggered(offer, [{ on: 'call_missed' }]);
    const body = { offer_id: offer, caller_number: '+13105550125', tokens: { state: 'CA' } };
    const { id: missed } = (await ok('post', 'call_sessions', body)).call_session;
    await report(missed, 'completed').catch(() => undefined);
    await settle();
    expect(await listLeads(id)).toMatchObject([
      { caller_id: '+13105550125', data: { state: 'CA' } },
    ]);
  });

  test('a call of a withheld or an impossible number starts nothing', async () => {
    const { offer } = await submitted([]);
    const id = await createTriggered(offer, [{ on: 'call_missed' }]);
    await call(offer, 'anonymous');
    await call(offer, '+10000000000');
    await settle();
    expect(await listLeads(id)).toEqual([]);
  });

  test('call_converted and call_not_converted tell calls apart that were connected', async () => {
    const { offer } = await submitted([]);
    await addBuyer(offer);
    const [won, lost, missed] = [
      await createTriggered(offer, [{ on: 'call_converted' }]),
      await createTriggered(offer, [{ on: 'call_not_converted' }]),
      await createTriggered(offer, [{ on: 'call_missed' }]),
    ];
    const first = await call(offer, '+13105550126');
    await report(first.id, 'answered');
    await convert(first.uuid);
    await report(first.id, 'completed');
    const second = await call(offer, '+13105550127');
    await report(second.id, 'answered');
    await report(second.id, 'completed');
    await settle();
    const numbers = async (id: number) => (await listLeads(id)).map(({ caller_id }) => caller_id);
    expect([await numbers(won), await numbers(lost), await numbers(missed)]).toEqual([
      ['+13105550126'],
      ['+13105550127'],
      [],
    ]);
  });

  test('text_received starts it by a text, and not by STOP, START or HELP', async () => {
    await submitted([]);
    const id = await createTriggered(null, [{ on: 'text_received' }]);
    for (const word of ['HELP', 'STOP', 'Stop!', 'START']) await text(word, '+13105550128');
    await settle();
    expect(await listLeads(id)).toEqual([]);
    await text('Call me', '+13105550128');
    await text('Call me', '+13105550128');
    await settle();
    expect(await listLeads(id)).toMatchObject([{ caller_id: '+13105550128' }]);
  });

  test('the tokens must match its filters', async () => {
    const { offer, schedule } = await submitted([]);
    const filters = ['state:in CA,NV', 'age:>=18'];
    const id = await createTriggered(offer, [{ on: 'lead_created', token_filter_list: filters }]);
    for (const [n, data] of [
      { state: 'CA' },
      { state: 'ny', age: 20 },
      { state: 'nv', age: 20 },
    ].entries())
      await ok('post', 'leads/capture', {
        schedule_id: schedule,
        caller_id: `+1310555013${n}`,
        data,
      });
    await settle();
    expect((await listLeads(id)).map(({ caller_id }) => caller_id)).toEqual(['+13105550132']);
  });

  test('events of other offers and other companies start nothing', async () => {
    const { offer } = await submitted([]);
    const id = await createTriggered(offer, [{ on: 'lead_created' }, { on: 'call_missed' }]);
    const otherOffer = (await ok('post', 'offers', { name: 'Other' })).offer.id as number;
    await ok('post', 'leads/capture', { offer_id: otherOffer, caller_id: '+13105550140' });
    await call(otherOffer, '+13105550141');
    const mine = world.company;
    world.company = await world.addCompany();
    await submitted([], { caller_id: '+13105550142' });
    world.company = mine;
    await settle();
    expect(await listLeads(id)).toEqual([]);
  });

  test('a number that is in the schedule goes on as it is', async () => {
    const { lead, offer, schedule } = await startLead(NAG, { first_name: 'Ann' });
    await ok('put', `schedules/${schedule}`, { triggers: [{ on: 'call_missed' }] });
    await call(offer);
    await settle();
    expect((await listLeads(schedule)).map(({ id }) => id)).toEqual([lead]);
    await hours(2);
    expect(await texts(lead)).toEqual(['Hello', 'Again']);
  });

  test('schedules that start each other by leads they make come to an end', async () => {
    const { offer, schedule } = await submitted([]);
    const trigger = { on: 'lead_created' };
    const [first, second] = [
      await createTriggered(offer, [trigger]),
      await createTriggered(offer, [trigger]),
    ];
    await ok('post', 'leads/capture', { schedule_id: schedule, caller_id: '+13105550150' });
    await settle();
    expect([(await listLeads(first)).length, (await listLeads(second)).length]).toEqual([1, 1]);
  });

  test('a schedule is not started by the calls that it places, nor two by turns', async () => {
    const { offer } = await submitted([]);
    const on = [{ on: 'call_not_converted' }, { on: 'call_missed' }, { on: 'lead_created' }];
    const [first, second] = [await createTriggered(offer, on), await createTriggered(offer, on)];
    for (const id of [first, second]) await act(id, DIAL);
    await ok('post', 'leads/capture', { offer_id: offer, caller_id: '+13105550151' });
    await settle();
    // A call that a schedule has placed ends without a buyer.
    for (let n = 0; n < 6; n++) {
      await world.sql(
        addRecording(
          'UPDATE calls SET ended_at = NULL WHERE company_id = $1 AND connected_at IS NULL',
        ),
        [world.company.id],
      );
      await world.sql(
        addRecording(`UPDATE calls SET ended_at = $2, connected_at = $2, updated_at = $2
          WHERE company_id = $1 AND ended_at IS NULL`),
        [world.company.id, time.read()],
      );
      await settle();
    }
    // By the lead, and once by the call of the other.
    expect([(await listLeads(first)).length, (await listLeads(second)).length]).toEqual([2, 2]);
  });

  test('a number that calls again and again starts it five times a day at most', async () => {
    const { offer } = await submitted([]);
    const id = await createTriggered(offer, [{ on: 'call_missed' }]);
    for (let n = 0; n < 7; n++) {
      await call(offer, '+13105550152');
      await settle();
    }
    expect((await listLeads(id)).length).toBe(5);
    await hours(25);
    await call(offer, '+13105550152');
    await settle();
    expect((await listLeads(id)).length).toBe(6);
  });

  test('thousands of leads at once start it once each, by four processes', async () => {
    const { offer, schedule } = await submitted([]);
    const id = await createTriggered(offer, [{ on: 'lead_created' }]);
    const count = repetitions(300, 3_000);
    await world.sql(
      leadInsert(`INSERT INTO leads (company_id, uuid, caller_number, offer_id, schedule_id, status, entered_at)
        SELECT $1, gen_random_uuid(), 13104000000 + n, $2, $3, 'scheduled', now()
        FROM generate_series(1, $4::int) AS x(n)`),
      [world.company.id, offer, schedule, count],
    );
    const drain = async () => {
      while ((await startTriggered(world.deps)) > 0);
    };
    await Promise.all([1, 2, 3, 4].map(drain));
    const [row] = await world.sql(
      'SELECT count(*)::int AS n, count(DISTINCT caller_number)::int AS numbers FROM leads WHERE schedule_id = $1',
      [id],
    );
    expect(row).toEqual({ n: count, numbers: count });
  });

  test('a paused schedule keeps whom it starts until it is resumed', async () => {
    const { offer } = await submitted([]);
    const id = await createTriggered(offer, [{ on: 'call_missed' }], { paused: true });
    await call(offer, '+13105550153');
    await settle();
    expect(await listLeads(id)).toMatchObject([{ status: 'disabled' }]);
  });
});
