import { eventually } from '../../support/engine-process';
import { useWorld } from '../../support/use-world';
import { openShop, submit } from '../../support/leads';

const world = useWorld({ receiver: true, webhooks: true });
const { hook, ok, nextNumber } = world;

describe('a manual fire', () => {
  test('is delivered for a lead, and has both logs', async () => {
    const fired = await hook('manual');
    const { schedule } = await openShop(world, [
      { action_type: 'wait', wait_amount: 9, wait_unit: 'hours' },
    ]);
    const { id: leadId } = (await submit(world, schedule.lead_token, { caller_id: nextNumber() }))
      .body;
    const body = {
      outgoing_webhook_id: fired.id,
      lead_id: leadId,
      created_at: '2026-05-01 10:00:00 +0000',
    };
    const { webhook_manual_fire: manualFire } = await ok('post', 'webhook_manual_fires', body);
    expect(manualFire).toMatchObject({
      lead_id: leadId,
      call_id: null,
      webhook_log_ids: [],
      lead_log_ids: [],
      created_at: '2026-05-01T10:00:00.000+00:00',
    });
    expect((await fired.payloads(1))[0]).toMatchObject({
      type: 'manual',
      data: { lead: { id: leadId } },
    });
    const shown = async () =>
      (await ok('get', `webhook_manual_fires/${manualFire.uuid}`)).webhook_manual_fire;
    await eventually(async () => (await shown()).webhook_log_ids.length === 1);
    const { webhook_log_ids, lead_log_ids } = await shown();
    const { lead_logs } = await ok('get', `lead_logs?lead_id=${leadId}&event=webhook_delivered`);
    expect(lead_logs.map(({ id }: { id: number }) => id)).toEqual(lead_log_ids);
    expect((await ok('get', `webhook_logs/${webhook_log_ids[0]}`)).webhook_log).toMatchObject({
      webhook_manual_fire_id: manualFire.id,
      lead_id: leadId,
    });
  });

  test('needs a webhook and a subject', async () => {
    const fired = await hook('every_call');
    const post = async (body: object) =>
      (await world.api('post', 'webhook_manual_fires', { body })).body.errors;
    expect(await post({})).toEqual({ outgoing_webhook_id: [expect.any(String)] });
    expect(await post({ outgoing_webhook_id: fired.id, lead_id: '' })).toEqual({
      lead_id: [expect.stringContaining('must be given')],
    });
    const draft = await ok('get', 'webhook_manual_fires/new?lead_id=&created_at=');
    expect(draft.webhook_manual_fire).toMatchObject({
      id: null,
      lead_id: null,
      created_at: null,
      webhook_log_ids: [],
    });
    const refused = await world.api('get', 'webhook_manual_fires/new?call_id=999999999');
    expect(refused.body.errors).toEqual({ call_id: [expect.any(String)] });
  });
});
