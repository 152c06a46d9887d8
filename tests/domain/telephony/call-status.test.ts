import { setTimeout } from 'node:timers/promises';
import { carrierRequests } from '../../support/carrier-requests';
import { NOON, ownNumber } from '../../support/leads';

const here = carrierRequests();
const { time, loadLogs, newLead, loadRow } = here;
const { sentMessage, messageStatus, placedCall, callStatus } = here;

describe('the status of an outbound call', () => {
  const lead = async (id: number) =>
    (await here.world.sql<Record<string, unknown>>('SELECT * FROM leads WHERE id = $1', [id]))[0]!;
  const calling = async (status: string) => {
    const { id } = await newLead();
    const call = await placedCall('queued', id);
    await here.world.sql('UPDATE leads SET status = $2, attempted_call_id = $3 WHERE id = $1', [
      id,
      status,
      call.id,
    ]);
    return { id, call };
  };

  test('that is answered connects its lead; at the end the schedule continues', async () => {
    const { id, call } = await calling('running');
    await callStatus(call, 'ringing');
    expect(await lead(id)).toMatchObject({ status: 'running', connected_call_id: null });
    await callStatus(call, 'in-progress');
    expect(await lead(id)).toMatchObject({ status: 'running', connected_call_id: call.id });
    time.set('2027-01-12T17:00:42Z');
    await callStatus(call, 'completed', { CallDuration: '42' });
    expect(await lead(id)).toMatchObject({ status: 'scheduled', is_live: true });
    const ended = {
      status: 'completed',
      total_duration: 42,
      answered_at: new Date(NOON),
      ended_at: new Date('2027-01-12T17:00:42Z'),
    };
    expect(await loadRow('calls', call)).toMatchObject({
      ...ended,
      carrier_call_id: `CA-${call.uuid}`,
    });
    expect(await loadLogs(id, 'call_changed')).toEqual(['in_progress', 'completed after 42 s']);
  });

  test('that reports an answer only at the end takes its time from the duration', async () => {
    const { id, call } = await calling('completed_attempted');
    await callStatus(call, 'completed', { CallDuration: '30' });
    expect(await lead(id)).toMatchObject({
      status: 'completed_connected',
      connected_call_id: call.id,
    });
    expect(await loadRow('calls', call)).toMatchObject({
      answered_at: new Date('2027-01-12T16:59:30Z'),
      ended_at: new Date(NOON),
    });
  });

  test.each([
    ['running', 'busy', 'busy', 'scheduled'],
    ['running', 'no-answer', 'no_answer', 'scheduled'],
    ['completed_attempted', 'failed', 'failed', 'completed_attempted'],
    ['completed_attempted', 'canceled', 'canceled', 'completed_attempted'],
    ['opt_out', 'busy', 'busy', 'opt_out'],
    ['running', 'initiated', 'queued', 'running'],
    ['running', 'on-hold', 'queued', 'running'],
  ])(
    'of a lead that is %s: %s is %s, and leaves it %s, not connected',
    async (before, reported, status, after) => {
      const { id, call } = await calling(before);
      await callStatus(call, reported, { CallDuration: '0' });
      const over = !['initiated', 'on-hold'].includes(reported);
      expect(await loadRow('calls', call)).toMatchObject({
        status,
        answered_at: null,
        total_duration: over ? 0 : null,
      });
      expect(await lead(id)).toMatchObject({ status: after, connected_call_id: null });
      expect(await loadLogs(id, 'call_changed')).toEqual(over ? [`${status} after 0 s`] : []);
    },
  );

  test('never goes back, and counts once if it is repeated', async () => {
    const { id, call } = await calling('running');
    for (const status of ['completed', 'completed', 'in-progress', 'ringing', 'busy'])
      await callStatus(call, status, { CallDuration: '7' });
    expect(await loadRow('calls', call)).toMatchObject({ status: 'completed', total_duration: 7 });
    expect(await loadLogs(id, 'call_changed')).toEqual(['completed after 7 s']);
  });

  test('changes no call of another company', async () => {
    const otherCompany = await here.world.addCompany();
    await ownNumber(here.world, otherCompany, '12125550168');
    const { id, call } = await calling('running');
    expect((await callStatus(call, 'completed', { From: '+12125550168' })).status).toBe(200);
    expect(
      (await callStatus({ uuid: '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001' }, 'completed')).status,
    ).toBe(200);
    expect([(await loadRow('calls', call)).status, (await lead(id)).status]).toEqual([
      'queued',
      'running',
    ]);
    expect((await callStatus(call, 'completed', { CallDuration: '-1' })).status).toBe(422);
  });

  test.each([
    ['calls', callStatus, 'completed', placedCall],
    ['text_messages', messageStatus, 'delivered', sentMessage],
  ] as const)(
    'of %s may arrive while the sender has locked the lead: neither fails',
    async (table, report, status, make) => {
      const { id } = await newLead();
      const row = await make('sending', id);
      await here.world.sql('BEGIN');
      await here.world.sql('SELECT FROM leads WHERE id = $1 FOR NO KEY UPDATE', [id]);
      const reported = report(row, status);
      // Longer than deadlock_timeout: after that the other transaction would be the one to fail.
      const stuck = `
        SELECT FROM pg_stat_activity
        WHERE datname = current_database()
          AND wait_event_type = 'Lock'
          AND clock_timestamp() > query_start + interval '1200 ms'`;
      while ((await here.world.deps.database.pool.query(stuck)).rowCount === 0)
        await setTimeout(50);
      await here.world.sql(`UPDATE ${table} SET status = 'queued' WHERE id = $1`, [row.id]);
      await here.world.sql('COMMIT');
      expect([(await reported).status, (await loadRow(table, row)).status]).toEqual([200, status]);
    },
  );
});
