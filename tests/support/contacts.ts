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
export let numberCount = 0;
/** A number in Los Angeles that no other test uses. */
export const newNumber = () => `+1310777${String(1000 + numberCount++)}`;
/** Submits a lead with only its token. */
export async function submitLead(leadToken: string, callerId: string, fields: object = {}) {
  const res = await api('post', 'leads', {
    auth: null,
    query: { lead_token: leadToken, caller_id: callerId, ...fields },
  });
  expect(res.status).toBe(201);
  return res.body.lead as { id: number; uuid: string };
}
export const lead = async (id: number) => (await api('get', `leads/${id}`)).body.lead;
export const loadContact = async (callerId: string, company = world.company) =>
  (await records('contacts', { caller_id: callerId }, company))[0];
/** The texts of schedules to a number. */
export const listBodies = async (number: string) =>
  (await records('text_messages', { number, direction: 'outbound' }))
    .filter(({ schedule_action_id }: { schedule_action_id: unknown }) => schedule_action_id)
    .map(({ body }: { body: string }) => body);
export const block = (callerIds: unknown[], company = world.company) =>
  company.api('post', 'contacts/caller_block', { body: { caller_ids: callerIds } });
export const unblock = (callerIds: unknown[], company = world.company) =>
  company.api('post', 'contacts/caller_unblock', { body: { caller_ids: callerIds } });
export const sms = (body: string) => ({ action_type: 'sms', body });
export const wait = (waitAmount: number) => ({
  action_type: 'wait',
  wait_amount: waitAmount,
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
