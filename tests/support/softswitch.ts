import { standingClock } from './clock';
import { requests } from './requests';
import { createWorld, type World } from './world';

type Fields = Record<string, unknown>;

export const CALLER = '+13105550188';
let next = 100;

/** A company with its own softswitch, new for each test: registers the hooks of a test file. */
export function softswitch(start: string) {
  let world: World;
  const time = standingClock(start);
  beforeAll(async () => {
    world = await createWorld({ clock: time.read });
  });
  beforeEach(async () => {
    time.set(start);
    world.company = await world.addCompany();
  });
  afterAll(() => world.close());

  const { ok } = requests(() => world.company);
  const newNumber = (prefix = '+1212555') => `${prefix}${String(next++).padStart(4, '0')}`;
  const buyer = async (fields: Fields = {}): Promise<number> => {
    const name = `Buyer ${next}`;
    const body = { name, number: newNumber(), timeout_seconds: 30, ...fields };
    return (await ok('post', 'buyers', body)).buyer.id;
  };
  const offer = async (fields: Fields): Promise<number> =>
    (await ok('post', 'offers', { name: 'Auto', ...fields })).offer.id;
  const group = async (fields: Fields): Promise<number> =>
    (await ok('post', 'buyer_groups', { name: 'Group', ...fields })).buyer_group.id;
  const begin = async (offerId: number, more: Fields = {}) =>
    (await ok('post', 'call_sessions', { offer_id: offerId, caller_number: CALLER, ...more }))
      .call_session;
  /** Reports an event and returns the next instruction. */
  const report = async (call: { id: number }, event: string, more: Fields = {}) =>
    (await ok('post', `call_sessions/${call.id}/events`, { event, ...more })).call_session
      .instruction;
  const errors = async (path: string, body: Fields) => {
    const res = await world.company.api('post', path, { body });
    return [res.status, res.body.errors];
  };
  /** The names of the events of a call. */
  const loadEvents = async ({ id }: { id: number }): Promise<string[]> =>
    (await ok('get', `calls/${id}/events`)).call_events.map(({ event }: Fields) => event);
  const later = (seconds: number) =>
    time.set(new Date(time.read().getTime() + seconds * 1000).toISOString());
  return {
    get world() {
      return world;
    },
    time,
    ok,
    newNumber,
    buyer,
    offer,
    group,
    begin,
    report,
    errors,
    loadEvents,
    later,
  };
}

export const dialed = (instruction: { dial: { buyer_id: number }[] }) =>
  instruction.dial.map(({ buyer_id }) => buyer_id);
