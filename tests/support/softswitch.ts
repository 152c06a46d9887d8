import type { Fields } from './records';
import { useWorld } from './use-world';

export const CALLER = '+13105550188';

/** A company with its own softswitch, new for each test: registers the hooks of a test file. */
export function softswitch(start: string, environment: Record<string, string> = {}) {
  const world = useWorld({ clock: start, fresh: 'company', environment });
  const { ok, create, clock, nextNumber: newNumber } = world;
  const buyer = (fields: Fields = {}) => {
    const number = newNumber();
    return create('buyers', { name: `Buyer ${number}`, number, timeout_seconds: 30, ...fields });
  };
  const offer = (fields: Fields) => create('offers', { name: 'Auto', ...fields });
  const group = (fields: Fields) => create('buyer_groups', { name: 'Group', ...fields });
  const begin = async (offerId: number, more: Fields = {}) =>
    (await ok('post', 'call_sessions', { offer_id: offerId, caller_number: CALLER, ...more }))
      .call_session;
  /** Reports an event and returns the next instruction. */
  const report = async (call: { id: number }, event: string, more: Fields = {}) =>
    (await ok('post', `call_sessions/${call.id}/events`, { event, ...more })).call_session
      .instruction;
  const errors = async (path: string, body: Fields) => {
    const res = await world.api('post', path, { body });
    return [res.status, res.body.errors];
  };
  /** The names of the events of a call. */
  const loadEvents = async ({ id }: { id: number }): Promise<string[]> =>
    (await ok('get', `calls/${id}/events`)).call_events.map(({ event }: Fields) => event);
  return {
    world,
    time: clock,
    ok,
    newNumber,
    buyer,
    offer,
    group,
    begin,
    report,
    errors,
    loadEvents,
    later: clock.later,
  };
}

export const dialed = (instruction: { dial: { buyer_id: number }[] }) =>
  instruction.dial.map(({ buyer_id }) => buyer_id);
