import { applyCalls } from '../../src/domain/leads/apply-calls';
import { checkPlacedCalls } from '../../src/domain/calls/check-placed-calls';
import { DIAL, NOON, openShop, runEngine, submit } from './leads';
import type { Fields } from './records';
import { useWorld } from './use-world';

export interface Command extends Fields {
  id: number;
  command: string;
  status: string;
  call_id: number;
  call_uuid: string;
}

/** A company whose own switch places its calls: registers the hooks of a test file. */
export function callingSwitch() {
  const world = useWorld({
    clock: NOON,
    fresh: 'company',
    own_number: true,
    environment: { CARRIER: 'switch' },
  });
  const { ok, create } = world;
  const listCommands = async (query = '', name = 'pbx'): Promise<Command[]> =>
    (await ok('get', `switches/${name}/commands${query}`)).commands;
  /** Registers a switch that asks for commands. */
  const connect = async (fields: Fields = {}) => {
    const { id } = (await ok('post', 'switches', { name: 'pbx', ...fields })).switch;
    await listCommands('', String(fields.name ?? 'pbx'));
    return id as number;
  };
  const buyer = (fields: Fields = {}) =>
    create('buyers', { name: 'Buyer', number: world.nextNumber(), ...fields });
  /** Orders a call that is routed to the buyers, and returns its command. */
  const routeCall = async (buyers: Fields[] = [{}], order: Fields = {}): Promise<Command> => {
    const ids = [];
    for (const fields of buyers) ids.push(await buyer(fields));
    const offer = await create('offers', { name: 'Auto', buyer_ids: ids });
    const body = { to: '+13105550190', offer_id: String(offer), ...order };
    const { call } = await ok('post', 'calls', body);
    expect(call).toMatchObject({ status: 'queued', sandbox: false, call_sid: call.uuid });
    return (await listCommands()).at(-1)!;
  };
  return {
    world,
    ok,
    connect,
    listCommands,
    routeCall,
    later: world.clock.later,
    answer: (command: Command, fields: Fields) =>
      ok('post', `switches/pbx/commands/${command.id}`, fields),
    sync: (live: string[], boot = 'boot-1') =>
      ok('post', 'switches/pbx/sync', { boot_id: boot, live }),
    /** Reports an event of a call, and returns the next instruction. */
    report: async (uuid: string, event: string, fields: Fields = {}) =>
      (await ok('post', `call_sessions/sid:${uuid}/events`, { event, ...fields })).call_session
        .instruction,
    showCall: async (uuid: string) => (await ok('get', `calls/${uuid}`)).call as Fields,
    showLead: async (id: number) => (await ok('get', `leads/${id}`)).lead as Fields,
    loadEvents: async (uuid: string): Promise<string[]> =>
      (await ok('get', `calls/${uuid}/events`)).call_events.map(({ event }: Fields) => event),
    /** Orders a call to the fixed destination of a schedule, or by `fields`. */
    placeCall: async (fields: Fields = {}) => {
      const { schedule } = await openShop(world, [{ ...DIAL, timeout_seconds: 20 }]);
      const body = { to: '+13105550190', schedule_id: schedule.id, ...fields };
      return world.api('post', 'calls', { body });
    },
    /** A lead whose schedule has called it. */
    callLead: async (actions: readonly Fields[] = [{ ...DIAL, timeout_seconds: 20 }]) => {
      const { schedule, offer } = await openShop(world, actions);
      const lead = (await submit(world, schedule.lead_token)).body.id as number;
      await runEngine(world);
      return { lead, offer: offer.id, schedule: schedule.id };
    },
    /** Looks at calls that are due, and writes those that have ended to their leads. */
    keepHouse: async () => {
      await checkPlacedCalls(world.deps);
      await applyCalls(world.deps.database.pool, world.deps.clock());
    },
  };
}
