import { standingClock } from './clock';
import { NOON } from './leads';
import { createWorld, type Company, type World } from './world';

export let world: World;
export const time = standingClock(NOON);
export const api = (...args: Parameters<Company['api']>) => world.company.api(...args);
export const records = async (path: string, query: object = {}, company = world.company) => {
  const res = await company.api('get', path, { query });
  expect([path, res.status]).toEqual([path, 200]);
  return res.body[path];
};
export let given = 0;
/** A number in Los Angeles that no other test uses. */
export const newNumber = () => `+1310777${String(1000 + given++)}`;
/** Submits a lead with only its token. */
export async function leadOf(lead_token: string, caller_id: string, fields: object = {}) {
  const res = await api('post', 'leads', {
    auth: null,
    query: { lead_token, caller_id, ...fields },
  });
  expect(res.status).toBe(201);
  return res.body.lead as { id: number; uuid: string };
}
export const lead = async (id: number) => (await api('get', `leads/${id}`)).body.lead;
export const contactOf = async (caller_id: string, company = world.company) =>
  (await records('contacts', { caller_id }, company))[0];
/** The texts of schedules to a number. */
export const bodies = async (number: string) =>
  (await records('text_messages', { number, direction: 'outbound' }))
    .filter(({ schedule_action_id }: { schedule_action_id: unknown }) => schedule_action_id)
    .map(({ body }: { body: string }) => body);
export const block = (caller_ids: unknown[], company = world.company) =>
  company.api('post', 'contacts/caller_block', { body: { caller_ids } });
export const unblock = (caller_ids: unknown[], company = world.company) =>
  company.api('post', 'contacts/caller_unblock', { body: { caller_ids } });
export const sms = (body: string) => ({ action_type: 'sms', body });
export const wait = (wait_amount: number) => ({
  action_type: 'wait',
  wait_amount,
  wait_unit: 'hours',
});
export const DIAL = { action_type: 'dial', connect_to: '+13105550199' };
export const EMAIL = {
  action_type: 'email',
  subject: 'Hi {{first_name}}',
  body: '<p>{{first_name}}</p>',
  html: true,
};
/** A change that the database has not let through yet. */
export const STUCK =
  `SELECT FROM pg_stat_activity WHERE datname = current_database() AND ` +
  `wait_event_type = 'Lock'`;
export const says = (from: string, body: string, to = '+12125550100') =>
  api('post', 'text_messages/receive', { body: { from, to, body } });

/** Opens the world of these tests before they run. */
export function setUp(): void {
  beforeAll(async () => {
    world = await createWorld({ clock: time.read });
  });
  afterAll(() => world.close());
  beforeEach(() => time.set(NOON));
}
