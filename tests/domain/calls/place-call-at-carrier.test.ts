import { openCarrier } from '../../../src/platform/carriers';
import { processDueLeads } from '../../../src/domain/outreach/due-leads';
import { loadStory, submit } from '../../support/leads';
import { placedCalls } from '../../support/placed-calls';
import type { Trouble } from '../../support/twilio-server';

const TO = '+13105550190';
const here = placedCalls();
const { time, ok, placeCall, distant, counted, shop } = here;

describe('the carrier', () => {
  test('that rejects a call leaves it as failed, with the reason', async () => {
    const { schedule } = await shop();
    const lead = (await submit(here.world, schedule.lead_token, { caller_id: '3105550101' })).body
      .id;
    for (const api of [here.world.company.api, distant()]) {
      const res = await placeCall({ lead_id: lead }, api);
      expect([res.status, res.body.call.status, res.body.call.error_code]).toEqual([
        201,
        'failed',
        'invalid_number',
      ]);
      expect(res.body.call.error_message).toEqual(expect.any(String));
    }
    expect((await ok('get', `leads/${lead}`)).lead.attempted_call_id).toBeNull();
    expect(
      (await loadStory(here.world, lead)).filter((line) => line.startsWith('call_failed')),
    ).toHaveLength(2);
  });

  test('that is down leaves nothing behind, and the next request places one call', async () => {
    const { schedule } = await shop();
    const order = { to: TO, schedule_id: schedule.id };
    expect((await placeCall({ ...order, to: '+13105550104' })).status).toBe(503);
    here.server.trouble([{ status: 429, code: 20429 }]);
    const res = await placeCall(order, distant(), { 'Idempotency-Key': 'down' });
    expect([res.status, res.body.detail, res.headers['retry-after']]).toEqual([
      503,
      expect.stringContaining('No call was placed'),
      expect.any(String),
    ]);
    expect(await counted()).toEqual([0, 0]);
    expect((await placeCall(order, distant(), { 'Idempotency-Key': 'down' })).status).toBe(201);
    expect([here.server.calls.length, await counted()]).toEqual([1, [1, 1]]);
  });

  test.each<Trouble>(['break after accepting', 'hang after accepting'])(
    'that did not answer (%s) is asked what became of the call when the request is repeated',
    async (trouble) => {
      const { schedule } = await shop();
      const order = { to: TO, schedule_id: schedule.id };
      // The carrier's clock is the real one.
      time.set(new Date().toISOString());
      here.server.trouble([trouble]);
      const lost = await placeCall(order, distant());
      expect([lost.status, lost.body.detail]).toEqual([503, expect.stringContaining('not known')]);
      const retry = await placeCall(order, distant());
      expect([retry.status, here.server.calls.length, await counted()]).toEqual([201, 1, [1, 1]]);
      // A repeated request after that places another call.
      expect((await placeCall(order, distant())).body.call.id).not.toBe(retry.body.call.id);
      expect([here.server.calls.length, await counted()]).toEqual([2, [2, 2]]);
    },
  );

  test('gets each of many simultaneous calls once, while leads are contacted too', async () => {
    const { schedule } = await shop();
    const leads = [];
    for (let n = 0; n < 5; n++)
      leads.push(
        (await submit(here.world, schedule.lead_token, { caller_id: `310555020${n}` })).body.id,
      );
    const { account_sid, auth_token, url: baseUrl } = here.server;
    const carrier = openCarrier('twilio', {
      account_sid,
      auth_token,
      base_url: baseUrl,
      public_url: here.public_url,
    });
    const api = distant();
    const [placed] = await Promise.all([
      Promise.all([...leads, ...leads].map((leadId) => placeCall({ lead_id: leadId }, api))),
      processDueLeads({ ...here.world.deps, carrier }),
      processDueLeads({ ...here.world.deps, carrier }),
    ]);
    expect(placed.map(({ status }) => status)).toEqual(Array(10).fill(201));
    const rows = await here.world.sql<{ n: number; own: number }>(
      `SELECT count(*)::int AS n, count(DISTINCT carrier_call_id)::int AS own
      FROM calls WHERE company_id = $1`,
      [here.world.company.id],
    );
    expect([
      rows[0],
      here.server.calls.filter(({ from }) => from === here.companyNumber).length,
    ]).toEqual([{ n: 15, own: 15 }, 15]);
  });
});
