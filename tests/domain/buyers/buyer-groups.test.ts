import { contract, facets } from '../../../src/platform/contract/contract';
import { CAPS } from '../../../src/domain/caps/caps';
import { createWorld, type World } from '../../support/world';

let world: World;
let ids: number[];
beforeAll(async () => {
  world = await createWorld();
  ids = [];
  for (let n = 0; n < 5; n++)
    ids.push(
      (
        await world.company.api('post', 'buyers', {
          body: { name: `B${n}`, user_buyer_id: `b${n}` },
        })
      ).body.buyer.id,
    );
});
afterAll(() => world.close());

const create = (body: object) => world.company.api('post', 'buyer_groups', { body });
const put = (id: number, body: object) => world.company.api('put', `buyer_groups/${id}`, { body });
const group = async (body: object = {}) => (await create({ name: 'G', ...body })).body.buyer_group;

describe('a buyer group', () => {
  test('needs a name on create; on update it may be blank', async () => {
    expect((await create({ tier: 1 })).body.errors).toEqual({ name: ['must be given'] });
    expect((await create({ name: '' })).body.errors).toEqual({ name: [expect.any(String)] });
    const { id } = await group();
    expect((await put(id, { name: '' })).body.buyer_group.name).toBe(null);
  });

  test('has every limit of metric and interval, writable and readable', async () => {
    const limits = Object.fromEntries(CAPS.map(({ limit }, n) => [limit, n + 1]));
    expect(await group(limits)).toMatchObject(limits);
    expect(CAPS).toHaveLength(20);
  });

  test('has the columns of the contract, in its order', async () => {
    const declared = Object.entries(
      facets(contract.document.components.schemas.BuyerGroup!).properties,
    );
    expect(Object.keys(await group())).toEqual(
      declared.filter(([, schema]) => !schema['x-grid']).map(([name]) => name),
    );
  });

  test('replaces its buyers, adds and removes them by id, uuid and user_buyer_id', async () => {
    const { id } = await group({ buyer_ids: ids.slice(0, 2), add_user_buyer_ids: ['b4'] });
    const members = async (body: object) => (await put(id, body)).body.buyer_group.buyer_ids;
    expect(await members({})).toEqual([ids[0], ids[1], ids[4]]);
    expect(
      await members({
        add_buyer_ids: [ids[2], ids[2], ids[0]],
        remove_user_buyer_ids: ['b4', 'b3'],
      }),
    ).toEqual([ids[0], ids[1], ids[2]]);
    expect(await members({ buyer_ids: [ids[3]] })).toEqual([ids[3]]);
    expect(await members({ buyer_ids: ids, remove_buyer_ids: ids.slice(1) })).toEqual([ids[0]]);
    expect(await members({ buyer_ids: '' })).toEqual([]);
    expect((await put(id, { add_user_buyer_ids: ['b1', 'unknown'] })).body.errors).toEqual({
      add_user_buyer_ids: ['names no record of yours: unknown'],
    });
    expect(await members({})).toEqual([]);
  });

  test('shows when it was paused and unpaused, and by which user', async () => {
    const { id } = await group();
    const token = await world.credentials(world.company, ['buyer_groups:update'], {
      kind: 'user_token',
      user_email: 'bo@example.com',
    });
    const paused = (
      await world.company.api('put', `buyer_groups/${id}`, {
        auth: null,
        body: { auth_token: token, paused: 'on' },
      })
    ).body.buyer_group;
    expect(paused).toMatchObject({
      paused: true,
      paused_at: expect.any(String),
      unpaused_at: null,
      paused_by_user_id: expect.any(Number),
    });
    expect((await put(id, { paused: true, tier: 2 })).body.buyer_group).toMatchObject({
      paused_at: paused.paused_at,
      paused_by_user_id: paused.paused_by_user_id,
    });
    expect((await put(id, { paused: false })).body.buyer_group).toMatchObject({
      paused: false,
      unpaused_at: expect.any(String),
      paused_by_user_id: null,
    });
  });

  test('takes its defaults back from blanks, and is dialed one way or the other', async () => {
    const createdGroup = await group({
      dial_buyers_type: 'simultaneously',
      time_zone: 'Tokyo',
      tier: 9,
      concurrency_cap: 3,
    });
    expect(createdGroup).toMatchObject({
      dial_buyers_type: 'simultaneously',
      time_zone: 'Tokyo',
      concurrency_cap_limit: 3,
    });
    expect(
      (await put(createdGroup.id, { time_zone: null, tier: '', concurrency_cap: '' })).body
        .buyer_group,
    ).toMatchObject({
      time_zone: 'Eastern Time (US & Canada)',
      tier: 1,
      concurrency_cap_limit: null,
    });
    expect((await put(createdGroup.id, { dial_buyers_type: 'at random' })).status).toBe(422);
  });

  test('can be ordered by every value the contract names', async () => {
    const orders = contract.document.components.schemas.BuyerGroupOrder!.enum as string[];
    expect(orders).toHaveLength(36);
    const all = (await world.company.api('get', 'buyer_groups?per_page=1000')).body.buyer_groups
      .length;
    for (const order of orders) {
      for (const dir of ['asc', 'desc']) {
        const seenIds = new Set<number>();
        let cursor: string | number = -1;
        for (let page = 0; cursor !== 0 && page < 50; page++) {
          const { body } = await world.company.api(
            'get',
            `buyer_groups?order=${order}&order_dir=${dir}&per_page=3&cursor=${cursor}&columns=id`,
          );
          body.buyer_groups.forEach(({ id }: { id: number }) => seenIds.add(id));
          cursor = body.metadata.next_cursor;
        }
        expect([order, dir, seenIds.size]).toEqual([order, dir, all]);
      }
    }
  });

  test('is exported as CSV', async () => {
    const { id } = await group({ name: 'Exported', buyer_ids: [ids[0]] });
    const { text } = await world.company.api(
      'get',
      `buyer_groups.csv?ids=${id}&columns=id,name,buyer_ids,maxed_out`,
    );
    expect(text).toBe(`id,name,buyer_ids,maxed_out\n${id},Exported,[${ids[0]}],false\n`);
  });

  test('when deleted leaves its buyers as they are', async () => {
    const { id } = await group({ buyer_ids: [ids[1]] });
    expect(
      (await world.company.api('delete', `buyer_groups/${id}`)).body.buyer_group.deleted_at,
    ).toEqual(expect.any(String));
    expect(
      (await world.company.api('get', `buyers/${ids[1]}`)).body.buyer.buyer_group_ids,
    ).not.toContain(id);
  });
});

describe('a buyer fleet', () => {
  test.each(['Upper', 'with space', 'dash-ed', 'ümlaut', ''])(
    'has no user_fleet_id like %p',
    async (userFleetId) => {
      expect(
        (
          await world.company.api('post', 'buyer_fleets', {
            body: { name: 'F', user_fleet_id: userFleetId },
          })
        ).body.errors,
      ).toEqual({
        user_fleet_id: [expect.any(String)],
      });
    },
  );

  test('has a user_fleet_id that is unique among the living', async () => {
    const post = () =>
      world.company.api('post', 'buyer_fleets', { body: { name: 'F', user_fleet_id: 'solar_1' } });
    const { id } = (await post()).body.buyer_fleet;
    expect((await post()).body.errors).toEqual({
      user_fleet_id: [expect.stringContaining('unique')],
    });
    await world.company.api('delete', `buyer_fleets/${id}`);
    expect((await post()).status).toBe(201);
  });

  test('knows its buyers, by the fleet they name; a deleted fleet is theirs no more', async () => {
    const { id, uuid } = (
      await world.company.api('post', 'buyer_fleets', {
        body: { name: 'F', user_fleet_id: 'mine', description: 'd' },
      })
    ).body.buyer_fleet;
    await world.company.api('put', `buyers/${ids[0]}`, { body: { buyer_fleet_id: id } });
    await world.company.api('put', `buyers/${ids[1]}`, { body: { buyer_fleet_id: uuid } });
    const shown = async () =>
      (await world.company.api('get', `buyer_fleets/${id}`)).body.buyer_fleet;
    expect(await shown()).toMatchObject({ buyers_count: 2, buyer_ids: [ids[0], ids[1]] });
    await world.company.api('put', `buyers/${ids[1]}`, { body: { buyer_fleet_id: '' } });
    expect(await shown()).toMatchObject({ buyers_count: 1, buyer_ids: [ids[0]] });
    await world.company.api('delete', `buyer_fleets/${id}`);
    expect((await world.company.api('get', `buyers/${ids[0]}`)).body.buyer.buyer_fleet_id).toBe(
      null,
    );
  });
});

describe('collections', () => {
  test('every closed list of the contract is one', async () => {
    const { collections } = (await world.company.api('get', 'collections')).body;
    const collectionNames = Object.values(contract.document.components.schemas).flatMap(
      (schema) => schema['x-collection'] ?? [],
    );
    expect(collections.map(({ name }: { name: string }) => name)).toEqual(
      ['time_zone', ...collectionNames].toSorted(),
    );
    const enums = Object.entries(contract.document.components.schemas).filter(
      ([, { enum: values, 'x-collection': name }]) => values && !name,
    );
    expect(enums.map(([name]) => name)).toEqual([]);
    for (const { path } of collections)
      expect((await world.company.api('get', path)).body.collection.length).toBeGreaterThan(0);
    expect(
      (await world.company.api('get', 'collections/dial_buyers_type?root=no')).body.map(
        ({ value }: { value: string }) => value,
      ),
    ).toEqual(['sequentially', 'simultaneously']);
  });

  test('every listed time zone is accepted, with its offset in PostgreSQL', async () => {
    const zones = (await world.company.api('get', 'collections/time_zone?root=false')).body as {
      value: string;
      iana_name: string;
      utc_offset_seconds: number;
    }[];
    expect(zones.length).toBeGreaterThan(500);
    expect(zones.map(({ value }) => value)).toEqual(
      expect.arrayContaining(['Eastern Time (US & Canada)', 'America/New_York', 'UTC']),
    );
    const offsets = await world.sql<{ name: string; seconds: number }>(
      `SELECT
        n AS name,
        extract(epoch FROM (now() AT TIME ZONE n) - (now() AT TIME ZONE 'UTC'))::int AS seconds
      FROM unnest($1::text[]) n`,
      [[...new Set(zones.map(({ iana_name }) => iana_name))]],
    );
    const byName = new Map(offsets.map(({ name, seconds }) => [name, seconds]));
    expect(
      zones.filter(
        ({ iana_name, utc_offset_seconds }) => byName.get(iana_name) !== utc_offset_seconds,
      ),
    ).toEqual([]);
  });
});
