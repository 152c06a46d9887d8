import { openTwilio } from '../../platform/carriers/requests';
import { createCallWriter } from '../../support/calls';
import { CALLER, softswitch } from '../../support/softswitch';
import { switchboard } from '../../support/switchboard';
import { startTwilio, type TwilioServer } from '../../support/twilio-server';
import { buildApp, caller, type Api } from '../../support/world';
import { patient } from '../../support/patience';

let server: TwilioServer;
const here = softswitch('2026-06-01T16:00:00Z');
const { time, ok, errors, buyer, offer, begin, loadEvents } = here;
beforeAll(async () => {
  server = await startTwilio();
});
beforeEach(() => server.trouble([]));
afterAll(() => server.close());

type Fields = Record<string, unknown>;

/** A call that rings at a buyer. */
const createRingingCall = async (fields: Fields = {}) => {
  const buyerIds = [await buyer({ name: 'Ada', number: '+12125550101', ...fields })];
  return begin(await offer({ buyer_ids: buyerIds }), { tokens: { state: 'CA' } });
};

describe('hang_up', () => {
  test('ends a call of a softswitch; its next instruction is to hang up', async () => {
    const call = await createRingingCall({
      current_conversion_revenue: 10,
      current_conversion_duration: 5,
    });
    await ok('post', `call_sessions/${call.id}/events`, { event: 'answered' });
    time.set('2026-06-01T16:00:20Z');
    const { call: ended } = await ok('post', `calls/${call.id}`, { hang_up: 'true' });
    expect(ended).toMatchObject({
      status: 'completed',
      hangup_cause: 'hang_up',
      answered_duration: 20,
      buyer_converted: true,
    });
    expect((await ok('get', `call_sessions/${call.id}`)).call_session.instruction.action).toBe(
      'hang_up',
    );
    expect(
      (await ok('post', `call_sessions/${call.id}/events`, { event: 'duration' })).call_session
        .instruction.action,
    ).toBe('hang_up');
    await ok('post', `calls/${call.id}`, { hang_up: true });
    expect(await loadEvents(call)).toEqual([
      'started',
      'dialed',
      'answered',
      'hang_up',
      'completed',
      'converted',
    ]);
    expect(
      (
        await here.world.sql('SELECT FROM call_slots WHERE company_id = $1', [
          here.world.company.id,
        ])
      ).length,
    ).toBe(0);
  });

  describe('of a call at a carrier', () => {
    const withCarrier = (): Api =>
      caller(
        buildApp({ ...here.world.deps, carrier: openTwilio(server, { timeout_ms: patient(300) }) }),
        here.world.company.auth,
      );
    /** A call that came in through the carrier and rings at a buyer. */
    const carried = async () => {
      const board = switchboard(here.world, time);
      await board.offer([await board.buyer()]);
      const sid = `CA${here.world.company.id}`;
      await board.twiml(board.hook('voice'), {
        CallSid: sid,
        From: CALLER,
        To: board.companyNumber,
        CallStatus: 'ringing',
      });
      const { id } = await board.loadCall({ sid });
      return { board, sid, path: `calls/${id}` };
    };

    test('asks the carrier to end it, which then reports the end', async () => {
      const { board, sid, path } = await carried();
      server.calls.push({ sid, status: 'in-progress' });
      const res = await withCarrier()('post', path, { body: { hang_up: true } });
      expect([res.status, res.body.call.ended_at, server.calls.at(-1)!.status]).toEqual([
        200,
        null,
        'completed',
      ]);
      await board.twiml(board.hook('voice_status'), {
        CallSid: sid,
        From: CALLER,
        To: board.companyNumber,
        CallStatus: 'completed',
      });
      expect((await ok('get', path)).call.ended_at).not.toBeNull();
    });

    test('ends it here if the carrier no longer has it', async () => {
      const { sid, path } = await carried();
      server.calls.push({ sid, status: 'completed' });
      const res = await withCarrier()('post', path, { body: { hang_up: true } });
      expect(res.body.call).toMatchObject({ status: 'no_answer', hangup_cause: 'hang_up' });
    });

    test('changes nothing if the carrier is down, or is a different one', async () => {
      const { path } = await carried();
      server.trouble(['break']);
      const res = await withCarrier()('post', path, { body: { hang_up: true, payout: 5 } });
      expect([res.status, res.headers['retry-after']]).toEqual([503, expect.any(String)]);
      server.trouble([{ status: 400, code: 21210 }]);
      expect(
        (await withCarrier()('post', path, { body: { hang_up: true, payout: 5 } })).body.errors,
      ).toEqual({
        hang_up: [expect.stringContaining('refused')],
      });
      expect(await errors(path, { hang_up: true, payout: 5 })).toEqual([
        409,
        { hang_up: [expect.stringContaining('twilio')] },
      ]);
      expect((await ok('get', path)).call).toMatchObject({ ended_at: null, payout: 0 });
    });

    test('cancels an outbound call that was not answered', async () => {
      const sid = `CAout${here.world.company.id}`;
      const call = await createCallWriter(here.world, here.world.company).call({
        direction: 'outbound',
        status: 'ringing',
        carrier: 'twilio',
        carrier_call_id: sid,
      });
      server.calls.push({ sid, status: 'no-answer' });
      const res = await withCarrier()('post', `calls/${call.id}`, { body: { hang_up: true } });
      expect(res.body.call).toMatchObject({ status: 'canceled', ended_at: expect.any(String) });
    });
  });
});
