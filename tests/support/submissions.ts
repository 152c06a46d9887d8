import { DIAL, openShop, sms, wait, type Shop } from './leads';
import { fresh, useTwoCompanies } from './lead-records';
import type { Fields } from './records';

export const instant = (text: string) => new Date(text).toISOString();

/** Submissions of leads by their fields: registers the hooks of a test file. */
export function useSubmissions() {
  const here = useTwoCompanies({ environment: { CORS_ORIGINS: 'https://app.example.com' } });
  const { world, theirs, api } = here;
  const [shop, busy, theirShop] = [{} as Shop, {} as Shop, {} as Shop];
  beforeAll(async () => {
    Object.assign(shop, await openShop(world, [wait(30, 'days')]));
    const email = { action_type: 'email', subject: 'Hello {{first_name}}', body: 'Hi' };
    Object.assign(busy, await openShop(world, [sms('Hi {{first_name}}'), email, DIAL]));
    Object.assign(theirShop, await openShop(world, [], {}, theirs));
  });
  const complete = (fields: Fields): Fields => ({
    lead_token: shop.schedule.lead_token,
    caller_id: fresh(),
    ...fields,
  });
  const post = (fields: Fields, headers: Record<string, string> = {}, auth: string | null = null) =>
    api('post', 'leads', { auth, body: complete(fields), headers });
  const createLead = async (fields: Fields, auth: string | null = null) => {
    const res = await post(fields, {}, auth);
    expect([res.status, res.body.errors]).toEqual([201, {}]);
    return res.body;
  };
  return {
    ...here,
    shop,
    /** Its schedule texts, mails and calls at once. */
    busy,
    theirShop,
    complete,
    post,
    createLead,
    faults: async (fields: Fields, auth: string | null = null) => {
      const res = await post(fields, {}, auth);
      expect([res.status, res.body.success]).toEqual([422, false]);
      return Object.keys(res.body.errors);
    },
    /** The fields that a lead was taken without. */
    listWarnings: async (fields: Fields, auth: string | null = null) =>
      Object.keys((await createLead(fields, auth)).warnings),
    createBusyLead: (fields: Fields = {}) =>
      createLead({ lead_token: busy.schedule.lead_token, ...fields }),
    listSent: (table: 'text_messages' | 'emails' | 'calls', { id }: { id: number }) => {
      const text = `SELECT * FROM ${table} WHERE lead_id = $1 ORDER BY id`;
      return world.sql<Record<string, string>>(text, [id]);
    },
  };
}
