import { NOON } from './leads';
import { nextNumber } from './records';
import { useWorld } from './use-world';

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
/** A number in Los Angeles that no other test uses. */
export const newNumber = () => nextNumber('+1310777');

/** The people that a company contacts: registers the hooks of a test file. */
export function useContacts() {
  const world = useWorld({ clock: NOON });
  const { api } = world;
  const records = async (path: string, query: object = {}, company = world.company) => {
    const res = await company.api('get', path, { query });
    expect([path, res.status]).toEqual([path, 200]);
    return res.body[path];
  };
  return {
    world,
    time: world.clock,
    api,
    records,
    /** Submits a lead with only its token. */
    submitLead: async (leadToken: string, callerId: string, fields: object = {}) => {
      const query = { lead_token: leadToken, caller_id: callerId, ...fields };
      const res = await api('post', 'leads', { auth: null, query });
      expect(res.status).toBe(201);
      return res.body.lead as { id: number; uuid: string };
    },
    lead: async (id: number) => (await api('get', `leads/${id}`)).body.lead,
    loadContact: async (callerId: string, company = world.company) =>
      (await records('contacts', { caller_id: callerId }, company))[0],
    /** The texts of schedules to a number. */
    listBodies: async (number: string) =>
      (await records('text_messages', { number, direction: 'outbound' }))
        .filter(({ schedule_action_id }: { schedule_action_id: unknown }) => schedule_action_id)
        .map(({ body }: { body: string }) => body),
    block: (callerIds: unknown[], company = world.company) =>
      company.api('post', 'contacts/caller_block', { body: { caller_ids: callerIds } }),
    unblock: (callerIds: unknown[], company = world.company) =>
      company.api('post', 'contacts/caller_unblock', { body: { caller_ids: callerIds } }),
    says: (from: string, body: string, to = '+12125550100') =>
      api('post', 'text_messages/receive', { body: { from, to, body } }),
  };
}
