import { contactDueLeads } from '../../src/workflows/contact-due-leads';
import type { Company, World } from './world';

/** Noon in New York and nine in Los Angeles, on a Tuesday in winter: daylight everywhere. */
export const NOON = '2027-01-12T17:00:00Z';

type Fields = Record<string, unknown>;

export interface Shop {
  schedule: { id: number; lead_token: string };
  offer: { id: number; lead_token: string };
  /** The number the company texts and calls from. */
  number: string;
}

/** Gives a company a number of its own. */
export async function ownNumber({ sql }: World, company: Company, phone_number = '12125550100', offer_id: number | null = null): Promise<number> {
  const [row] = await sql<{ id: string }>(
    `INSERT INTO numbers (company_id, uuid, phone_number, country, carrier, offer_id) VALUES ($1, gen_random_uuid(), $2, 'US', 'sandbox', $3) RETURNING id`,
    [company.id, phone_number, offer_id],
  );
  await sql('INSERT INTO number_lookups (phone_number, company_id, number_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [phone_number, company.id, row!.id]);
  return Number(row!.id);
}

/** An offer, a schedule of it with these actions, and a number. Actions are in order; `end: true` is for those of its end. */
export async function openShop(world: World, actions: readonly Fields[], fields: Fields = {}, company = world.company): Promise<Shop> {
  const made = async (path: string, body: Fields, root: string) => {
    const res = await company.api('post', path, { body });
    if (res.status !== 201) throw new Error(`${path}: ${JSON.stringify(res.body)}`);
    return res.body[root] as { id: number; lead_token: string };
  };
  const number = '12125550100';
  const [owned] = await world.sql<{ id: string }>('SELECT id FROM numbers WHERE company_id = $1', [company.id]);
  if (!owned) await ownNumber(world, company, number);
  const offer = await made('offers', { name: 'Auto insurance' }, 'offer');
  const schedule = await made('schedules', { name: 'Follow up', offer_id: offer.id, ...fields }, 'schedule');
  for (const { end, ...action } of actions)
    await made('schedule_actions', { schedule_id: schedule.id, end_of_schedule: end ?? false, ...action }, 'schedule_action');
  return { schedule, offer, number };
}

/** Has everything done that is due, as one worker would, and answers how many leads had their turn. */
export async function runEngine({ deps }: Pick<World, 'deps'>): Promise<number> {
  let all = 0;
  for (let n = 1; n > 0; all += n) n = await contactDueLeads(deps);
  return all;
}

export const submit = ({ company }: World, lead_token: string, fields: Fields = {}) =>
  company.api('post', 'leads', { auth: null, query: { lead_token, caller_id: '3105550123', ...fields } });
