import { createSoldCall, type Margin } from '../../support/margin';
import { softswitch } from '../../support/softswitch';
import type { Member } from '../../support/teams';

// Publishers: teams that are granted traffic sources, alone or along with buyers and offers.

const here = softswitch('2026-06-01T16:30:00Z');
let margin: Margin;
beforeEach(async () => {
  margin = await createSoldCall(here);
});

describe('a user of several grants', () => {
  const shown = async (user: Member) =>
    (await user.api('get', `calls/${margin.call.id}`)).body.call;

  test('sees both sides of an offer that is granted alone', async () => {
    const user = await margin.user('offer', { offer_ids: [margin.ids.offers] });
    expect(await shown(user)).toMatchObject({
      revenue: 31.31,
      payout: 7.77,
      traffic_source: 'Secret Source',
    });
    const report = await user.api('get', 'calls/reports', { query: { category: 'offer' } });
    expect(report.body.totals).toMatchObject({ revenue: 31.31, payout: 7.77, profit: 23.54 });
    const { offer } = (await user.api('get', `offers/${margin.ids.offers}`)).body;
    expect(offer.payouts).toHaveLength(1);
    expect((await user.api('get', 'calls', { query: { order: 'payout' } })).status).toBe(200);
  });

  test('sees each side where the buyer or the source of the record is granted', async () => {
    const { ok, begin, report, later } = here;
    const user = await margin.user('both', {
      buyer_ids: [margin.ids.buyers],
      traffic_source_ids: [margin.ids.traffic_sources],
    });
    const otherSource = (await ok('post', 'traffic_sources', { name: 'Other' })).traffic_source.id;
    const foreign = await begin(margin.ids.offers!, {
      traffic_source_id: otherSource,
      caller_number: '+13105550189',
    });
    await report(foreign, 'answered');
    later(10);
    await report(foreign, 'completed', { duration: 10 });
    await ok('post', `calls/${foreign.id}`, { payout: 3 });
    expect(await shown(user)).toMatchObject({ revenue: 31.31, payout: 7.77 });
    const second = (await user.api('get', `calls/${foreign.id}`)).body.call;
    expect(second).toMatchObject({ revenue: 31.31, payout: null, traffic_source_id: null });
    const { body } = await user.api('get', 'calls/reports', { query: { category: 'buyer' } });
    expect(body.totals).toMatchObject({ calls: 2, revenue: 62.62, payout: 7.77, profit: 23.54 });
    const sorted = await user.api('get', 'calls', { query: { order: 'payout' } });
    expect(sorted.body.calls.map(({ id }: { id: number }) => id)).toEqual([
      margin.call.id,
      foreign.id,
    ]);
    const filtered = await user.api('get', 'calls', { query: { traffic_source_id: otherSource } });
    expect([filtered.status, Object.keys(filtered.body.errors)]).toEqual([
      422,
      ['traffic_source_id'],
    ]);
    const converted = await user.api('get', 'calls', { query: { offer_converted: true } });
    expect(converted.body.metadata.total_count).toBe(1);
  });

  test('of a source at one offer sees its calls of that offer alone', async () => {
    const user = await margin.user('narrow', {
      traffic_source_ids: [margin.ids.traffic_sources],
      offer_ids: [margin.ids.offers],
    });
    const elsewhere = await here.begin(await here.offer({ buyer_ids: [margin.ids.buyers] }), {
      traffic_source_id: margin.ids.traffic_sources,
    });
    const calls = (await user.api('get', 'calls')).body.calls as { id: number }[];
    expect(calls.map(({ id }) => id)).toEqual([margin.call.id]);
    expect((await user.api('get', `calls/${elsewhere.id}`)).status).toBe(404);
    expect(await shown(user)).toMatchObject({ payout: 7.77, revenue: null });
  });
});

describe('traffic sources of a team', () => {
  test('are granted from the team and from the source, and shown by both', async () => {
    const { ok } = here;
    const source = margin.ids.traffic_sources!;
    const path = `traffic_sources/${source}`;
    const user = await margin.user('late', {});
    expect((await user.api('get', path)).status).toBe(404);
    await ok('put', path, { team_ids: [user.team] });
    const { access_control_list } = await ok('get', `access_control_lists/${user.team}`);
    expect(access_control_list.traffic_source_ids).toEqual([source]);
    const grid = await ok('get', `${path}?serializer=traffic_source_grid`);
    expect(grid.traffic_source.team_ids).toEqual([user.team]);
    expect((await user.api('get', path)).body.traffic_source.name).toBe('Secret Source');
    expect((await user.api('get', 'calls')).body.calls).toHaveLength(1);
    await ok('put', `access_control_lists/${user.team}`, { traffic_source_ids: [] });
    expect((await user.api('get', path)).status).toBe(404);
    expect((await user.api('get', 'calls')).body.calls).toEqual([]);
  });

  test('are granted to a team by nobody who is limited, and leave it when deleted', async () => {
    const { ok } = here;
    const source = margin.ids.traffic_sources!;
    const user = await margin.user('limited', { traffic_source_ids: [source] }, [
      'traffic_sources:update',
      'company_wide:update',
    ]);
    const path = `traffic_sources/${source}`;
    const res = await user.api('put', path, { body: { team_ids: [user.team] } });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['team_ids']]);
    expect((await user.api('put', path, { body: { first_name: 'Ada' } })).status).toBe(200);
    await ok('delete', path);
    const { access_control_list } = await ok('get', `access_control_lists/${user.team}`);
    expect(access_control_list.traffic_source_ids).toEqual([]);
  });
});

test('a publisher reads the caps and payouts of the own source, and no dollars of buyers', async () => {
  const user = await margin.user('publisher', {
    traffic_source_ids: [margin.ids.traffic_sources],
    permissions: ['traffic_sources:read', 'traffic_sources:update'],
  });
  const path = `traffic_sources/${margin.ids.traffic_sources}`;
  const { traffic_source } = (await user.api('get', path)).body;
  expect(traffic_source).toMatchObject({
    attempt_total_limit: 100,
    attempt_total_used: 1,
    buyer_conversion_total_used: 1,
    payouts: [{ payout_type: 'fixed', amount: 7.77 }],
    revenue_total_limit: null,
    revenue_total_used: null,
    earned_revenue_total_limit: null,
    earned_revenue_total_used: null,
    allowed_buyer_ids: null,
    blocked_buyer_ids: null,
  });
  // Nor does a publisher raise them.
  const raised = await user.api('put', path, { body: { attempt_total_limit: 1000 } });
  expect(raised.status).toBe(403);
});
