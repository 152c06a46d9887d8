import { startJobs } from '../../../src/main/background/start';
import { startTriggered } from '../../../src/domain/leads/start-triggered';
import { eventually } from '../../support/engine-process';
import { useScheduleEvents } from '../../support/schedule-events';
import { leadInsert } from '../../support/write-leads';

const { call, listLeads, ok, settle, submitted, world } = useScheduleEvents();

describe('triggers of schedules', () => {
  const createTriggered = async (offerId: number, triggers: object[]) =>
    (await ok('post', 'schedules', { name: 'Then', offer_id: offerId, triggers })).schedule
      .id as number;

  test('a filter may name a value list, which then is in use', async () => {
    const { offer, schedule } = await submitted([]);
    const { value_list: list } = await ok('post', 'value_lists', {
      name: 'West coast',
      values: ['90001'],
    });
    const tokenFilterList = ['zip:in_list west coast'];
    const id = await createTriggered(offer, [
      { on: 'lead_created', token_filter_list: tokenFilterList },
    ]);
    for (const [n, zip] of ['90001-1234', '10001'].entries())
      await ok('post', 'leads/capture', {
        schedule_id: schedule,
        caller_id: `+1310555016${n}`,
        data: { zip },
      });
    await settle();
    expect((await listLeads(id)).map(({ caller_id }) => caller_id)).toEqual(['+13105550160']);
    expect((await ok('get', `value_lists/${list.id}`)).value_list.in_use).toBe(true);
    const refused = await world.company.api('delete', `value_lists/${list.id}`);
    expect([refused.status, refused.body.errors.name?.[0]]).toEqual([
      422,
      expect.stringContaining(`Schedule ${id} (Then)`),
    ]);
    const unknown = await world.company.api('put', `schedules/${id}`, {
      body: { triggers: [{ on: 'lead_created', token_filter_list: ['zip:in_list nowhere'] }] },
    });
    expect([unknown.status, Object.keys(unknown.body.errors)]).toEqual([
      422,
      ['triggers.0.token_filter_list'],
    ]);
  });

  test('a filter may ask for facts: the source, the sub id, the state, the number called', async () => {
    const { offer } = await submitted([]);
    const { traffic_source: source } = await ok('post', 'traffic_sources', {
      name: 'Partner',
      user_traffic_source_id: 'p-1',
    });
    const facts = ['traffic_source_id:==' + source.id, 'user_traffic_source_id:p-1', 'sub_id:a'];
    const tokenFilterList = [...facts, 'area_code:310', 'geo_state:CA', 'geo_country:US'];
    const id = await createTriggered(offer, [
      { on: 'call_missed', token_filter_list: tokenFilterList },
    ]);
    for (const subId of ['a', 'b'])
      await ok('post', 'call_sessions', {
        offer_id: offer,
        caller_number: subId === 'a' ? '+13105550161' : '+13105550162',
        traffic_source_id: source.id,
        sub_id: subId,
      });
    await settle();
    expect((await listLeads(id)).map(({ caller_id }) => caller_id)).toEqual(['+13105550161']);
  });

  test('start them in the background', async () => {
    const { offer } = await submitted([]);
    const id = await createTriggered(offer, [{ on: 'call_missed' }]);
    await call(offer, '+13105550157');
    const jobs = await startJobs(world.deps);
    await eventually(async () => (await listLeads(id)).length === 1);
    await jobs.stop();
  });

  test('events of one company, and those that fail, hold up no others', async () => {
    const { offer, schedule } = await submitted([]);
    const bad = await createTriggered(offer, [{ on: 'lead_created' }]);
    const good = await createTriggered(offer, [{ on: 'call_missed' }]);
    await world.sql(
      `UPDATE schedules SET triggers = '[{ "on": "lead_created", "token_filter_list": null }]'
        WHERE id = $1`,
      [bad],
    );
    await world.sql(
      leadInsert(`INSERT INTO leads (company_id, uuid, caller_number, offer_id, schedule_id, status, entered_at)
        SELECT $1, gen_random_uuid(), 13104100000 + n, $2, $3, 'scheduled', now()
        FROM generate_series(1, 250) AS x(n)`),
      [world.company.id, offer, schedule],
    );
    await call(offer, '+13105550154');
    const first = world.company;
    world.company = await world.addCompany();
    const otherSetup = await submitted([]);
    const ofOther = await createTriggered(otherSetup.offer, [{ on: 'call_missed' }]);
    await call(otherSetup.offer, '+13105550155');
    await startTriggered(world.deps);
    expect(await listLeads(ofOther)).toMatchObject([{ caller_id: '+13105550155' }]);
    world.company = first;
    await startTriggered(world.deps);
    expect(await listLeads(good)).toMatchObject([{ caller_id: '+13105550154' }]);
    await world.sql('DELETE FROM schedule_events WHERE company_id = $1', [first.id]);
  });
});
