import { standingClock } from './clock';
import { NOON, openShop, ownNumber, runEngine } from './leads';
import { createWorld, type Company, type World } from './world';

export type Fields = Record<string, unknown>;
export let world: World;
export let theirs: Company;
export const time = standingClock(NOON);
export let numbers = 3_105_553_000;
export const fresh = () => String(numbers++);
export const api = (...args: Parameters<Company['api']>) => world.company.api(...args);
export const post = (leadToken: string, fields: Fields) =>
  api('post', 'leads', { auth: null, body: { lead_token: leadToken, ...fields } });
/** Submits a lead with credentials and the token; the answer shows all of the lead. */
export const createLead = async (leadToken: string, fields: Fields = {}) => {
  const body = { lead_token: leadToken, caller_id: fresh(), ...fields };
  const res = await api('post', 'leads', { body });
  expect([res.status, res.body.errors]).toEqual([201, {}]);
  return res.body.lead;
};
export const shown = async ({ id }: { id: number }) => (await api('get', `leads/${id}`)).body.lead;
export const isGone = async ({ id }: { id: number }) =>
  (await api('get', `leads/${id}`)).status === 404;
export const count = async () =>
  (await api('get', 'leads', { query: { per_page: 1 } })).body.metadata.total_count;
export const at = async (when: string) => {
  time.set(when);
  await runEngine(world);
};
/** Bodies of the texts that a lead was sent. */
export const texts = async ({ id }: { id: number }) =>
  (
    await world.sql<{ body: string }>(
      'SELECT body FROM text_messages WHERE lead_id = $1 ORDER BY id',
      [id],
    )
  ).map(({ body }) => body);
export const calls = async ({ id }: { id: number }) =>
  (await world.sql('SELECT FROM calls WHERE lead_id = $1', [id])).length;
export const sms = (body: string, more: Fields = {}) => ({ action_type: 'sms', body, ...more });
export const wait = (waitAmount: number, waitUnit: string) => ({
  action_type: 'wait',
  wait_amount: waitAmount,
  wait_unit: waitUnit,
});
export const dial = { action_type: 'dial', connect_to: '+13105550199' };
/** Texts at once, then a day later, and at its end. */
export const open = (fields: Fields = {}) =>
  openShop(
    world,
    [sms('first'), wait(1, 'days'), sms('second'), sms('bye', { end: true })],
    fields,
  );
export const owners = ['offer', 'schedule'] as const;

/** Opens the world of tests of leads before they run. */
export function openWorld(): void {
  beforeAll(async () => {
    world = await createWorld({ clock: time.read });
    theirs = await world.addCompany('Theirs');
    await ownNumber(world, theirs, '12125550177');
  });
  beforeEach(() => time.set(NOON));
  afterAll(() => world.close());
}
