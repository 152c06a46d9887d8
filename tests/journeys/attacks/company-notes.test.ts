import { contract, facets } from '../../../src/platform/contract/contract';
import { createMember, type Member } from '../../support/teams';
import { useWorld } from '../../support/use-world';

// A note about a partner is the company's own, and so is the name of a suppression list: a user of
// a team learns them by no read, search, write or explanation.

const NOTE = 'Pays late: never prepay';
const world = useWorld({ fresh: 'company' });
const { ok, create } = world;

const NOUNS = ['offers', 'traffic_sources', 'buyer_fleets', 'schedules', 'call_centers'];
const ALL = [...NOUNS, 'value_lists'];

async function createScene() {
  const ids: Record<string, number> = {};
  const note = { description: NOTE };
  const fleet = { name: 'Fleet', user_fleet_id: 'fleet' };
  ids.buyer_fleets = await create('buyer_fleets', { ...fleet, ...note });
  const buyer = await create('buyers', {
    name: 'Mine',
    number: '+12125550177',
    buyer_fleet_id: ids.buyer_fleets,
  });
  ids.offers = await create('offers', { name: 'Auto', buyer_ids: [buyer], ...note });
  ids.traffic_sources = await create('traffic_sources', { name: 'Search', ...note });
  ids.schedules = await create('schedules', { name: 'Calls', offer_id: ids.offers, ...note });
  ids.call_centers = await create('call_centers', { name: 'West', ...note });
  ids.value_lists = await create('value_lists', { name: 'zips', ...note });
  const member = (email: string, grants: object, more: string[] = []) =>
    createMember(world.company, email, {
      ...grants,
      permissions: [
        ...ALL.flatMap((name) => ['read', 'create', 'update'].map((verb) => `${name}:${verb}`)),
        ...[
          'company_wide:update',
          'change_logs:read',
          'offers:routing',
          'buyers:read',
          'calls:read',
        ],
        ...more,
      ],
    });
  const grants = {
    buyer_ids: [buyer],
    offer_ids: [ids.offers],
    traffic_source_ids: [ids.traffic_sources],
  };
  return { ids, buyer, grants, member };
}

test('every note for own use is marked in the contract, where it is read and where written', () => {
  const schemas = Object.entries(contract.document.components.schemas);
  const notes = schemas.flatMap(([schema, body]) =>
    Object.entries(facets(body).properties).flatMap(([name, property]) => {
      const { description = '', 'x-money': visibility } = contract.resolve(property);
      return description.startsWith('A note for your own use')
        ? [{ schema, name, visibility }]
        : [];
    }),
  );
  expect(notes.length).toBeGreaterThanOrEqual(12);
  expect(notes.filter(({ visibility }) => visibility !== 'company')).toEqual([]);
});

describe.each(ALL)('the note of %s', (noun) => {
  let mine: Member;
  let path: string;
  let scene: Awaited<ReturnType<typeof createScene>>;
  beforeEach(async () => {
    scene = await createScene();
    mine = await scene.member('partner@example.com', scene.grants);
    path = `${noun}/${scene.ids[noun]}`;
  });

  test('is in no answer, and no search finds it', async () => {
    const shown = await mine.api('get', path);
    const list = await mine.api('get', noun);
    const table = await mine.api('get', `${noun}.csv`);
    expect([shown.status, list.status]).toEqual([200, 200]);
    expect(list.body.metadata.total_count).toBe(1);
    for (const { text } of [shown, list, table]) expect(text).not.toContain(NOTE);
    const countMatches = async (api: Member['api'], fulltext: string) =>
      (await api('get', noun, { query: { fulltext } })).body.metadata.total_count;
    expect(await countMatches(mine.api, 'never prepay')).toBe(0);
    const { name } = Object.values<{ name: string }>(shown.body).find((part) => part?.name)!;
    expect(await countMatches(mine.api, name)).toBe(1);
  });

  test('is not written, and stays where it is sent back as it was read', async () => {
    const put = (body: object) => mine.api('put', path, { body });
    const refused = await put({ description: 'Pays well' });
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['description']]);
    for (const blank of [null, '']) expect((await put({ description: blank })).status).toBe(200);
    const created = await mine.api('post', noun, { body: { name: 'other', description: 'x' } });
    // Only a caller who is not limited makes a fleet.
    if (created.status !== 403) expect(Object.keys(created.body.errors)).toContain('description');
    const { text } = await world.api('get', path);
    expect(text).toContain(NOTE);
    expect((await mine.api('get', 'change_logs')).text).not.toContain(NOTE);
  });
});

describe('the name of a suppression list', () => {
  const NAME = 'Known fraud of partner 9';
  const CALLER = '+13105550188';

  test('is in an explanation only for who may read the list', async () => {
    const { ids, buyer, grants, member } = await createScene();
    const list = await create('buyer_suppressions', { name: NAME });
    await ok('post', `buyer_suppressions/${list}/caller_block`, { caller_ids: [CALLER] });
    await ok('put', `buyers/${buyer}`, { buyer_suppression_ids: [list] });
    const plain = await member('plain@example.com', grants);
    const reader = await member('reader@example.com', grants, ['buyer_suppressions:read']);
    const explain = async ({ api }: Pick<Member, 'api'>) => {
      const body = { offer_id: ids.offers, caller_number: CALLER };
      return (await api('post', 'routing/explain', { body })).body.decision;
    };
    expect(await explain(plain)).toMatchObject({
      candidates: [
        {
          reason: 'suppressed',
          message: "the caller's number is on a suppression list of the buyer",
          details: null,
        },
      ],
    });
    for (const asker of [world, reader])
      expect(JSON.stringify(await explain(asker))).toContain(NAME);
    await ok('put', `offers/${ids.offers}`, { buyer_suppression_ids: [list] });
    expect(await explain(plain)).toMatchObject({
      reason: 'offer_suppressed',
      message: "the caller's number is on a suppression list of the offer",
    });
    expect(JSON.stringify(await explain(world))).toContain(NAME);
  });
});
