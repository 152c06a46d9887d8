import { openShop } from './leads';
import { nextNumber, type Fields } from './records';
import type { World } from './world';

export { DIAL, wait as hours } from './leads';

/** A step of a forecast as the API returns it. */
export interface TimelineStep {
  at: string | null;
  action: string;
  schedule_action_id: number | null;
  name: string | null;
  end_of_schedule: boolean;
  text: string | null;
  delayed_by: string | null;
  blocked_by: string | null;
  message: string | null;
}

export const SMS = { action_type: 'sms', body: 'Hi [first_name]{you}' };
export const EMAIL = { action_type: 'email', subject: 'About {{offer_name}}', body: 'x' };
export const HOOK = { action_type: 'webhook', url: 'https://example.com/hook' };

/** A step in short: its time and action, and why it is delayed or blocked. */
export const formatStep = ({ at, action, delayed_by, blocked_by }: TimelineStep) =>
  [
    at?.slice(5, 16) ?? 'never',
    action,
    delayed_by && `(${delayed_by})`,
    blocked_by && `!${blocked_by}`,
  ]
    .filter(Boolean)
    .join(' ');

/** Leads of a company and their timelines. */
export function buildTimelineHelpers(world: () => World) {
  const api = (...args: Parameters<World['company']['api']>) => world().company.api(...args);
  /** A number in Los Angeles that no other lead of the test file has. */
  const newNumber = () => nextNumber('+1310777');

  const timeline = async (
    leadId: number | string,
    query: object = {},
  ): Promise<{ past: Record<string, unknown>[]; future: TimelineStep[] }> => {
    const res = await api('get', `leads/${leadId}/timeline`, { query });
    expect(res.status).toBe(200);
    return res.body.timeline;
  };
  const future = async (leadId: number, query?: object) =>
    (await timeline(leadId, query)).future.map(formatStep).join(', ');

  const submitted = async (
    leadToken: string,
    fields: object,
  ): Promise<{ id: number; number: string }> => {
    const number = newNumber();
    const res = await api('post', 'leads', {
      auth: null,
      query: { lead_token: leadToken, caller_id: number, ...fields },
    });
    expect([res.status, res.body.errors]).toEqual([201, {}]);
    return { id: res.body.id, number };
  };

  /** A lead in a schedule of these actions, to which nothing has happened yet. */
  const newLead = async (
    actions: Fields[],
    { schedule = {}, ...fields }: { schedule?: Fields } & Fields = {},
  ) => {
    const shop = await openShop(world(), actions, schedule);
    const lead = await submitted(shop.schedule.lead_token, { email: 'ann@example.com', ...fields });
    return { shop, ...lead };
  };

  return { api, newNumber, timeline, future, submitted, newLead };
}
