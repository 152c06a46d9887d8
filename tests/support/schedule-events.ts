import { applyCalls } from '../../src/domain/leads/apply-calls';
import { startTriggered } from '../../src/domain/leads/start-triggered';
import { NOON, runEngine, buildScheduleHelpers, SMS, wait } from './leads';
import type { Fields } from './records';
import { useWorld } from './use-world';

export const ANN = '+13105550123';
export const NAG = [SMS, wait(1), { ...SMS, body: 'Again' }];
export const BYE = { ...SMS, body: 'Bye', end: true };

/** Schedules that other events start and end; each test of the file gets a company of its own. */
export function useScheduleEvents() {
  const environment = { DATABASE_POOL_SIZE: '20' };
  const world = useWorld({ clock: NOON, fresh: 'company', environment });
  const { ok, create, clock: time } = world;
  return {
    world,
    time,
    ...buildScheduleHelpers(world),
    /** A buyer who answers the calls of an offer. */
    addBuyer: async (offer: number): Promise<void> => {
      const buyer = await create('buyers', { number: '+12125550101' });
      await ok('put', `offers/${offer}`, { buyer_ids: [buyer] });
    },
    call: async (offerId: number, callerNumber = ANN): Promise<{ id: number; uuid: string }> =>
      (await ok('post', 'call_sessions', { offer_id: offerId, caller_number: callerNumber }))
        .call_session,
    report: (id: number, event: string) => ok('post', `call_sessions/${id}/events`, { event }),
    convert: (uuid: string) => ok('post', `calls/update_call/${uuid}`, { buyer_converted: true }),
    text: (body: string, from = ANN) =>
      ok('post', 'text_messages/receive', { from, to: '+12125550100', body }),
    loadLead: async (id: number) => (await ok('get', `leads/${id}`)).lead,
    listLeads: async (schedule: number) =>
      (await ok('get', `leads?schedule_id=${schedule}`)).leads as {
        id: number;
        caller_id: string;
        status: string;
        data: Fields;
        offer_id: number;
        email: string | null;
      }[],
    /** Runs the background work until nothing of it is left. */
    settle: async (): Promise<void> => {
      while ((await applyCalls(world.deps.database.pool, time.read())) > 0);
      for (let n = 0; n < 50; n++) {
        const events = await startTriggered(world.deps);
        if ((await runEngine(world)) + events === 0) return;
      }
      throw new Error('the schedules start each other without end');
    },
  };
}
