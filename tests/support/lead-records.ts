import { NOON, openShop, ownNumber, runEngine, sms, wait, type Shop } from './leads';
import type { Fields } from './records';
import { useWorld, type WorldSetup } from './use-world';
import type { Company } from './world';

let numberCount = 3_105_553_000;
/** A number in Los Angeles that no other lead of a test file has. */
export const fresh = () => String(numberCount++);
export const owners = ['offer', 'schedule'] as const;
export const iso = (text: string) => text.replace('Z', '.000+00:00');

/** Two companies at noon, which have numbers: registers the hooks of a test file. */
export function useTwoCompanies(setup: WorldSetup = {}) {
  const world = useWorld({ clock: NOON, ...setup });
  const theirs = {} as Company;
  beforeAll(async () => {
    Object.assign(theirs, await world.addCompany('Theirs'));
    await ownNumber(world, theirs, '12125550177');
  });
  const shown = async ({ id }: { id: number }) => (await world.ok('get', `leads/${id}`)).lead;
  return { world, theirs, api: world.api, time: world.clock, shown };
}

/** Leads that go through schedules: registers the hooks of a test file. */
export function useLeads() {
  const here = useTwoCompanies();
  const { world, api, time } = here;
  const post = (leadToken: string, fields: Fields) =>
    api('post', 'leads', { auth: null, body: { lead_token: leadToken, ...fields } });
  /** Submits a lead with credentials and the token; the answer shows all of the lead. */
  const createLead = (leadToken: string, fields: Fields = {}) =>
    world.createRecord('leads', { lead_token: leadToken, caller_id: fresh(), ...fields });
  return {
    ...here,
    post,
    createLead,
    isGone: async ({ id }: { id: number }) => (await api('get', `leads/${id}`)).status === 404,
    count: async () => (await world.ok('get', 'leads?per_page=1')).metadata.total_count,
    at: async (when: string) => {
      time.set(when);
      await runEngine(world);
    },
    /** Bodies of the texts that a lead was sent. */
    texts: async ({ id }: { id: number }) => {
      const text = 'SELECT body FROM text_messages WHERE lead_id = $1 ORDER BY id';
      return (await world.sql<{ body: string }>(text, [id])).map(({ body }) => body);
    },
    calls: async ({ id }: { id: number }) =>
      (await world.sql('SELECT FROM calls WHERE lead_id = $1', [id])).length,
    /** Texts at once, then a day later, and at its end. */
    open: (fields: Fields = {}) =>
      openShop(
        world,
        [sms('first'), wait(1, 'days'), sms('second'), sms('bye', { end: true })],
        fields,
      ),
  };
}

/** Leads of a schedule, and a shop of another company: registers the hooks of a test file. */
export function useLeadRecords() {
  const here = useLeads();
  const { world, theirs, api, shown } = here;
  const [shop, theirShop] = [{} as Shop, {} as Shop];
  beforeAll(async () => {
    const actions = [sms('first'), wait(1, 'days'), sms('second')];
    Object.assign(shop, await openShop(world, actions));
    Object.assign(theirShop, await openShop(world, [], {}, theirs));
  });
  return {
    ...here,
    shop,
    theirShop,
    scheduled: (fields: Fields = {}) => here.createLead(shop.schedule.lead_token, fields),
    change: async ({ id }: { id: number }, body: Fields) => {
      const res = await api('put', `leads/${id}`, { body });
      expect([res.status, res.body.errors]).toEqual([200, {}]);
      return res.body.lead;
    },
    faults: async ({ id }: { id: number }, body: Fields) => {
      const before = await shown({ id });
      const res = await api('put', `leads/${id}`, { body });
      expect([res.status, await shown({ id })]).toEqual([422, before]);
      return Object.keys(res.body.errors);
    },
    remove: ({ caller_id }: Fields, leadToken: string) =>
      api('post', `leads/${String(caller_id)}/caller_remove`, {
        auth: null,
        query: { lead_token: leadToken },
      }),
  };
}
