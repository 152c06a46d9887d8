import { api, createLead, openWorld, shown, theirs, world, type Fields } from './lead-transitions';
import { openShop, type Shop } from './leads';

export {
  api,
  at,
  fresh,
  createLead,
  post,
  shown,
  texts,
  theirs,
  time,
  world,
} from './lead-transitions';
export type { Fields } from './lead-transitions';

export let shop: Shop;
export let theirShop: Shop;
export const scheduled = (fields: Fields = {}) => createLead(shop.schedule.lead_token, fields);
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
export const remove = ({ caller_id }: Fields, leadToken: string) =>
  api('post', `leads/${String(caller_id)}/caller_remove`, {
    auth: null,
    query: { lead_token: leadToken },
  });
export const iso = (text: string) => text.replace('Z', '.000+00:00');

/** Opens the world of these tests before they run. */
export function setUp(): void {
  openWorld();
  beforeAll(async () => {
    shop = await openShop(world, [
      { action_type: 'sms', body: 'first' },
      { action_type: 'wait', wait_amount: 1, wait_unit: 'days' },
      { action_type: 'sms', body: 'second' },
    ]);
    theirShop = await openShop(world, [], {}, theirs);
  });
}
