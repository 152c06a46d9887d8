import { standingClock } from './clock';
import { NOON, openShop, ownNumber, type Shop } from './leads';
import { createWorld, type Company, type World } from './world';

export type Fields = Record<string, unknown>;
export let world: World;
export let shop: Shop;
/** Its schedule texts, mails and calls at once. */
export let busy: Shop;
export let theirs: Company;
export let theirShop: Shop;
export const time = standingClock(NOON);
export let numbers = 3_105_551_000;
export const fresh = () => String(numbers++);
export const api = (...args: Parameters<Company['api']>) => world.company.api(...args);
export const complete = (fields: Fields): Fields => ({
  lead_token: shop.schedule.lead_token,
  caller_id: fresh(),
  ...fields,
});
export const post = (
  fields: Fields,
  headers: Record<string, string> = {},
  auth: string | null = null,
) => api('post', 'leads', { auth, body: complete(fields), headers });
export const createLead = async (fields: Fields, auth: string | null = null) => {
  const res = await post(fields, {}, auth);
  expect([res.status, res.body.errors]).toEqual([201, {}]);
  return res.body;
};
export const faults = async (fields: Fields, auth: string | null = null) => {
  const res = await post(fields, {}, auth);
  expect([res.status, res.body.success]).toEqual([422, false]);
  return Object.keys(res.body.errors);
};
/** The fields that a lead was taken without. */
export const listWarnings = async (fields: Fields, auth: string | null = null) =>
  Object.keys((await createLead(fields, auth)).warnings);
export const createBusyLead = (fields: Fields = {}) =>
  createLead({ lead_token: busy.schedule.lead_token, ...fields });
export const listSent = (table: 'text_messages' | 'emails' | 'calls', { id }: { id: number }) =>
  world.sql<Record<string, string>>(`SELECT * FROM ${table} WHERE lead_id = $1 ORDER BY id`, [id]);
export const instant = (text: string) => new Date(text).toISOString();

/** Opens the world of these tests before they run. */
export function setUp(): void {
  beforeAll(async () => {
    world = await createWorld({
      clock: time.read,
      environment: { CORS_ORIGINS: 'https://app.example.com' },
    });
    shop = await openShop(world, [{ action_type: 'wait', wait_amount: 30, wait_unit: 'days' }]);
    busy = await openShop(world, [
      { action_type: 'sms', body: 'Hi {{first_name}}' },
      { action_type: 'email', subject: 'Hello {{first_name}}', body: 'Hi' },
      { action_type: 'dial', connect_to: '+13105550199' },
    ]);
    theirs = await world.addCompany('Theirs');
    await ownNumber(world, theirs, '12125550177');
    theirShop = await openShop(world, [], {}, theirs);
  });
  afterEach(() => time.set(NOON));
  afterAll(() => world.close());
}
