import { contract, facets, isOpen, type Schema } from '../../../src/platform/contract/contract';
import { openShop } from '../../support/leads';
import { createMember } from '../../support/teams';
import { useWorld } from '../../support/use-world';

// Who else could read or stop people through a lead token: users who are limited to some records,
// and operations that need no credentials of the company either.

const world = useWorld();
const { api } = world;

/** Finds a column with personal data or money in the schema, at any depth. */
function isSensitive(schema: Schema, visited = new Set<object>()): boolean {
  const resolved = contract.resolve(schema);
  if (visited.has(resolved)) return false;
  visited.add(resolved);
  if (resolved['x-sensitive']) return true;
  const { properties, items } = facets(schema);
  return [...Object.values(properties), ...(items ? [items] : [])].some((child) =>
    isSensitive(child, visited),
  );
}

test('no operation without credentials of the company shows such columns but by lead token', () => {
  const open = contract.operations.filter((operation) => operation.credentials !== 'account');
  const showing = open.filter(({ responses }) =>
    Object.entries(responses).some(([status, response]) => {
      const content = contract.resolve(response).content?.['application/json'];
      const { schema } = (content ?? {}) as { schema?: Schema };
      return status.startsWith('2') && schema !== undefined && isSensitive(schema);
    }),
  );
  expect(new Set(showing.map(({ credentials }) => credentials))).toEqual(new Set(['lead_token']));
  expect(showing.length).toBe(open.filter(({ power }) => power).length);
  expect(open.some((operation) => isOpen(operation) && !operation.power)).toBe(true);
});

test('a user who is limited reads whole leads of granted offers alone, and stops no others', async () => {
  const [granted, otherShop] = [await openShop(world, []), await openShop(world, [])];
  const { api: limited } = await createMember(world.company, 'eve@example.com', {
    permissions: ['leads:read', 'leads:update', 'leads:create', 'contacts:read'],
    offer_ids: [granted.offer.id],
  });
  const callerId = '+13105550123';
  for (const { offer } of [granted, otherShop])
    await api('post', 'leads', {
      body: { lead_token: offer.lead_token, caller_id: callerId, email: 'ann@example.com' },
    });
  const readEmails = async ({ offer }: typeof granted) => {
    const query = { lead_token: offer.lead_token, caller_id: callerId };
    const shown = await limited('get', `leads/${offer.lead_token}/${callerId}/by_caller_number`);
    const submitted = await limited('post', 'leads', { query });
    return [shown.body.lead.email, submitted.body.lead.email];
  };
  expect(await readEmails(granted)).toEqual(['ann@example.com', 'ann@example.com']);
  expect(await readEmails(otherShop)).toEqual([null, null]);

  for (const { offer } of [granted, otherShop])
    await limited('put', `leads/${callerId}/caller_opt_out`, {
      query: { lead_token: offer.lead_token },
    });
  const contact = async (by: typeof api) =>
    (await by('get', 'contacts', { query: { caller_id: callerId } })).body.contacts[0];
  expect(await contact(api)).toMatchObject({
    opt_out: false,
    opt_out_offer_ids: [granted.offer.id, otherShop.offer.id],
  });
  expect((await contact(limited)).opt_out_offer_ids).toEqual([granted.offer.id]);
});

test('the webhook of opt-outs is told of one by a token, of a lead that has ended too', async () => {
  const { schedule } = await openShop(world, []);
  const body = {
    name: 'Opt-outs',
    url: 'https://hooks.example.com/out',
    trigger_type: 'lead_opted_out',
  };
  expect((await api('post', 'outgoing_webhooks', { body })).status).toBe(201);
  const query = { lead_token: schedule.lead_token };
  const events = async () =>
    Number(
      (
        await world.sql<{ n: string }>(
          `SELECT count(*) AS n FROM webhook_events WHERE kind = 'lead_opted_out'`,
        )
      )[0]!.n,
    );
  for (const [number, ended] of [
    ['+13105550131', false],
    ['+13105550132', true],
  ] as const) {
    const before = await events();
    await api('post', 'leads', { auth: null, query: { ...query, caller_id: number } });
    if (ended) await api('post', `leads/${number}/caller_remove`, { auth: null, query });
    for (let times = 0; times < 2; times++)
      await api('put', `leads/${number}/caller_opt_out`, { auth: null, query });
    expect([number, (await events()) - before]).toEqual([number, 1]);
  }
});
