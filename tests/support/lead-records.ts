import { standingClock } from './clock';
import { NOON, openShop, ownNumber, runEngine, type Shop } from './leads';
import { createWorld, type Company, type World } from './world';

export type Fields = Record<string, unknown>;
export let world: World;
export let theirs: Company;
export let shop: Shop;
export let their_shop: Shop;
export const time = standingClock(NOON);
export let numbers = 3_105_556_000;
export const fresh = () => String(numbers++);
export const api = (...args: Parameters<Company['api']>) => world.company.api(...args);
export const post = (lead_token: string, fields: Fields) =>
  api('post', 'leads', { auth: null, body: { lead_token, ...fields } });
/** With credentials beside the token, which show all of the lead. */
export const made = async (lead_token: string, fields: Fields = {}) => {
  const body = { lead_token, caller_id: fresh(), ...fields };
  const res = await api('post', 'leads', { body });
  expect([res.status, res.body.errors]).toEqual([201, {}]);
  return res.body.lead;
};
export const scheduled = (fields: Fields = {}) => made(shop.schedule.lead_token, fields);
export const shown = async ({ id }: { id: number }) => (await api('get', `leads/${id}`)).body.lead;
export const change = async ({ id }: { id: number }, body: Fields) => {
  const res = await api('put', `leads/${id}`, { body });
  expect([res.status, res.body.errors]).toEqual([200, {}]);
  return res.body.lead;
};
export const faults = async ({ id }: { id: number }, body: Fields) => {
  const before = await shown({ id });
  const res = await api('put', `leads/${id}`, { body });
  expect([res.status, await shown({ id })]).toEqual([422, before]);
  return Object.keys(res.body.errors);
};
export const remove = ({ caller_id }: Fields, lead_token: string) =>
  api('post', `leads/${String(caller_id)}/caller_remove`, { auth: null, query: { lead_token } });
export const at = async (when: string) => {
  time.set(when);
  await runEngine(world);
};
export const texts = async ({ id }: { id: number }) =>
  (
    await world.sql<{ body: string }>(
      'SELECT body FROM text_messages WHERE lead_id = $1 ORDER BY id',
      [id],
    )
  ).map(({ body }) => body);
export const iso = (text: string) => text.replace('Z', '.000+00:00');

/** Opens the world of these tests before they run. */
export function setUp(): void {
  beforeAll(async () => {
    world = await createWorld({ clock: time.read });
    theirs = await world.addCompany('Theirs');
    await ownNumber(world, theirs, '12125550177');
    shop = await openShop(world, [
      { action_type: 'sms', body: 'first' },
      { action_type: 'wait', wait_amount: 1, wait_unit: 'days' },
      { action_type: 'sms', body: 'second' },
    ]);
    their_shop = await openShop(world, [], {}, theirs);
  });
  beforeEach(() => time.set(NOON));
  afterAll(() => world.close());
}
