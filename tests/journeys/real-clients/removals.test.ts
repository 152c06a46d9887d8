import { contract, facets } from '../../../src/platform/contract/contract';
import { createPartner } from '../../support/partner';
import { useWorld } from '../../support/use-world';

// `remove_*` of what is not there changes nothing, in every operation that has such a field.

const world = useWorld();
const { api, ok, create, createRecord } = world;

const UNKNOWN = '0198f0c0-0000-7000-8000-000000000000';

/** Each field of the contract that takes records away, with the path that makes its record. */
const removals = contract.operations
  .filter(({ method, path }) => method === 'put' && path.endsWith('/{id}'))
  .flatMap(({ path, body }) =>
    Object.entries(body ? facets(body).properties : {})
      .filter(([field]) => field.startsWith('remove_'))
      .map(([field, schema]) => ({
        path: path.split('/')[3]!,
        field,
        key: schema['x-reference'] === 'buyers.user_buyer_id' ? 'user_buyer_id' : 'id',
      })),
  );

const NAMES: Record<string, string> = {
  buyer_groups: 'buyer_group',
  buyer_suppressions: 'buyer_suppression',
  offers: 'offer',
};
let recordCount = 0;

test('each field that removes something is covered', () => {
  expect(new Set(removals.map(({ path }) => path))).toEqual(new Set(Object.keys(NAMES)));
  expect(removals).toHaveLength(6);
});

describe.each(removals)('$field of $path', ({ path, field, key }) => {
  const root = NAMES[path]!;
  const newBuyer = async () => {
    const userBuyerId = `removed-${recordCount++}`;
    const { id, uuid } = await createRecord('buyers', { user_buyer_id: userBuyerId });
    return { id: id as number, uuid: uuid as string, user_buyer_id: userBuyerId };
  };
  /** A record with one buyer, and how its buyers are read. */
  const newRecord = async () => {
    const member = await newBuyer();
    const id = await create(path, { name: `R ${recordCount++}`, buyer_ids: [member.id] });
    const members = async (): Promise<number[]> =>
      (await api('get', `${path}/${id}`)).body[root].buyer_ids;
    return { member, members, to: `${path}/${id}` };
  };

  test('ignores what does not exist, is deleted, is not attached, or was removed before', async () => {
    const { member, members, to } = await newRecord();
    const [stranger, deleted] = [await newBuyer(), await newBuyer()];
    await ok('delete', `buyers/${deleted.id}`);
    const absent =
      key === 'id'
        ? [999_999_999, UNKNOWN, stranger.id, stranger.uuid, deleted.id]
        : ['no such', stranger.user_buyer_id, deleted.user_buyer_id];
    await ok('put', to, { [field]: absent });
    expect(await members()).toEqual([member.id]);
    await ok('put', to, { [field]: [...absent, member[key as 'id']] });
    expect(await members()).toEqual([]);
    await ok('put', to, { [field]: [member[key as 'id']] });
    expect(await members()).toEqual([]);
  });

  test('takes nothing away that the caller cannot see', async () => {
    const { member, members, to } = await newRecord();
    const alone = await world.addCompany();
    const otherBuyer = await alone.api('post', 'buyers', {
      body: { user_buyer_id: `o-${recordCount++}` },
    });
    await ok('put', to, { [field]: [otherBuyer.body.buyer[key]] });
    expect(await members()).toEqual([member.id]);
  });
});

test('a limited caller removes what it sees, and nothing of others', async () => {
  const { partner, buyer, offer } = await createPartner(world);
  const hidden = await create('buyers', { user_buyer_id: 'hidden' });
  const to = `offers/${offer}`;
  await api('put', to, { body: { buyer_ids: [buyer, hidden] } });
  const remove = (body: object) => partner.api('put', to, { body });
  const statuses = [];
  statuses.push((await remove({ remove_buyer_ids: [hidden] })).status);
  statuses.push((await remove({ remove_user_buyer_ids: ['hidden', 'no such'] })).status);
  expect(statuses).toEqual([200, 200]);
  const members = async () => (await api('get', to)).body.offer.buyer_ids as number[];
  expect((await members()).toSorted()).toEqual([buyer, hidden].toSorted());
  await remove({ remove_buyer_ids: [buyer, hidden] });
  expect(await members()).toEqual([hidden]);
  const added = await remove({ add_buyer_ids: [hidden + 1000] });
  expect(added.body.error_codes).toEqual({ add_buyer_ids: ['unknown_reference'] });
});
