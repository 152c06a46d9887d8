import { endStaleCalls } from '../../../src/domain/calls/end-stale-calls';
import { softswitch } from '../../support/softswitch';

/** Monday 08:30 in New York. */
const here = softswitch('2026-06-01T12:30:00Z');
const { ok, buyer, offer, begin, report, later } = here;

type Fields = Record<string, unknown>;

const sync = async (live: string[], boot = 'boot-1') => {
  const { renewed, ended, lost, unknown } = await ok('post', 'switches/edge/sync', {
    ...{ boot_id: boot, live },
  });
  return { renewed, ended, lost, unknown };
};
const NOTHING = { renewed: 0, ended: [], lost: [], unknown: [] };

let offerId: number;
beforeEach(async () => {
  await ok('post', 'switches', { name: 'edge' });
  const conversion = { name: 'Half', conversion_type: 'duration', duration: 30, revenue: 9 };
  const paying = {
    buyer_conversions_schedule: [{ buyer_conversions_attributes: [conversion], schedule: [] }],
  };
  offerId = await offer({ buyer_ids: [await buyer(paying)] });
});

let count = 0;
const startCall = async (fields: Fields = {}) => {
  const sid = `sync-${++count}`;
  const call = await begin(offerId, { switch: 'edge', call_sid: sid, ...fields });
  return { ...call, sid } as { id: number; uuid: string; sid: string };
};
const showCall = async ({ id }: { id: number }) => (await ok('get', `calls/${id}`)).call;
const countSlots = async () =>
  (
    await here.world.sql<{ n: number }>(
      'SELECT count(*)::int AS n FROM call_slots WHERE company_id = $1',
      [here.world.company.id],
    )
  )[0]!.n;

test('renews the calls that are live, by their own ids or uuids', async () => {
  const [first, second] = [await startCall(), await startCall()];
  expect(await sync([first.sid, second.uuid])).toEqual({ ...NOTHING, renewed: 2 });
  const [row] = await here.world.sql<{ leases: Date[] }>(
    'SELECT array_agg(DISTINCT lease_until) AS leases FROM call_slots WHERE company_id = $1',
    [here.world.company.id],
  );
  expect(row!.leases.map((lease) => lease.toISOString())).toEqual(['2026-06-01T12:45:00.000Z']);
});

test('says which live calls have ended here, and which were never reported', async () => {
  const call = await startCall();
  await report(call, 'completed');
  expect(await sync([call.sid, 'overflow-1'])).toEqual({
    ...NOTHING,
    ...{ ended: [call.sid], unknown: ['overflow-1'] },
  });
});

test('ends a call that is gone at the last time at which it was surely live', async () => {
  await sync([]);
  later(1);
  const call = await startCall();
  later(4);
  await report(call, 'answered');
  later(60);
  expect(await sync([call.sid])).toEqual({ ...NOTHING, renewed: 1 });
  later(60);
  expect(await sync([])).toEqual({ ...NOTHING, lost: [call.uuid] });
  expect(await showCall(call)).toMatchObject({
    ...{ status: 'completed', hangup_cause: 'lost', answered_duration: 60 },
    ...{ ended_at: '2026-06-01T12:31:05.000+00:00', buyer_converted: true, revenue: 9 },
  });
  expect(await countSlots()).toBe(0);
});

test('leaves a call alone that came in after the sync before', async () => {
  await sync([]);
  later(30);
  const call = await startCall();
  later(1);
  expect(await sync([])).toEqual(NOTHING);
  later(60);
  expect(await sync([])).toEqual({ ...NOTHING, lost: [call.uuid] });
});

test('of a switch that has restarted ends all calls that it does not have', async () => {
  await sync([]);
  later(10);
  const [kept, gone] = [await startCall(), await startCall()];
  await report(gone, 'answered');
  later(6);
  expect(await sync([kept.sid], 'boot-2')).toEqual({ ...NOTHING, renewed: 1, lost: [gone.uuid] });
  expect(await showCall(gone)).toMatchObject({ answered_duration: 0, buyer_converted: false });
  expect(await showCall(kept)).toMatchObject({ ended_at: null });
});

test('touches no call of another switch, nor one that names none', async () => {
  await ok('post', 'switches', { name: 'other' });
  const calls = [await startCall({ switch: 'other' }), await startCall({ switch: null })];
  expect(await sync([], 'boot-2')).toEqual(NOTHING);
  for (const call of calls) expect(await showCall(call)).toMatchObject({ ended_at: null });
});

test('a call that was considered lost gets its actual end from a late report', async () => {
  const call = await startCall();
  await report(call, 'answered');
  await sync([], 'boot-2');
  expect(await showCall(call)).toMatchObject({ hangup_cause: 'lost', revenue: 0 });
  later(100);
  await report(call, 'completed', { duration: 95, by: 'buyer' });
  expect(await showCall(call)).toMatchObject({
    ...{ answered_duration: 95, hangup_cause: 'buyer_hung_up', revenue: 9 },
  });
});

test('at the same time as the end of a call counts it once', async () => {
  const call = await startCall();
  await report(call, 'answered');
  later(40);
  const end = () => report(call, 'completed', { duration: 40 });
  await Promise.all([sync([], 'boot-2'), end(), sync([], 'boot-3'), end()]);
  expect(await showCall(call)).toMatchObject({ answered_duration: 40, revenue: 9 });
  expect(await countSlots()).toBe(0);
});

test('a call without any report ends when its last event was, not when its time ran out', async () => {
  const call = await startCall({ switch: null });
  later(4);
  await report(call, 'answered');
  later(6);
  await report(call, 'duration');
  later(901);
  await endStaleCalls(here.world.deps);
  expect(await showCall(call)).toMatchObject({
    ...{ hangup_cause: 'lost', answered_duration: 6, ended_at: '2026-06-01T12:30:10.000+00:00' },
  });
});
