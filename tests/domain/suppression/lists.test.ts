import { findSuppressedBuyers } from '../../../src/domain/suppression/suppressed-buyers';
import { numberAt, loadNumbers, buildSuppressionRequests } from '../../support/imports';
import { useWorld } from '../../support/use-world';

const world = useWorld({ jobs: true });
let buyers: number[];
const { api, create, createBuyers, upload } = buildSuppressionRequests(() => world);
beforeAll(async () => {
  buyers = await createBuyers();
});

const block = (id: number, callerIds: unknown, verb = 'block') =>
  api('post', `buyer_suppressions/${id}/caller_${verb}`, { body: { caller_ids: callerIds } });
describe('a suppression list', () => {
  test('without a file has no import, and blocks nothing', async () => {
    expect(await create()).toMatchObject({
      type: 'BuyerSuppression',
      name: 'List',
      status: null,
      blocked: 0,
      import_count: 0,
      total_count: null,
      import_percent: 0,
      headers: [],
      buyer_ids: [],
      offer_ids: [],
      schedule_ids: [],
      import_file_url: null,
      started_at: null,
    });
  });

  test('is written and read back, changed, found and deleted', async () => {
    const list = await create({
      name: 'Writable',
      caller_id_column_name: 'tel',
      headers: ['tel', 'who'],
      external_record_id: 'x-1',
      buyer_ids: [buyers[0]],
    });
    expect(list).toMatchObject({
      name: 'Writable',
      caller_id_column_name: 'tel',
      headers: ['tel', 'who'],
      external_record_id: 'x-1',
      buyer_ids: [buyers[0]],
    });
    const changed = await api('put', `buyer_suppressions/${list.uuid}`, {
      body: { name: 'Renamed', caller_id_column_name: '', headers: null },
    });
    expect(changed.body.buyer_suppression).toMatchObject({
      name: 'Renamed',
      caller_id_column_name: null,
      headers: [],
      buyer_ids: [buyers[0]],
    });
    for (const query of [{ fulltext: 'renam' }, { ids: list.id }]) {
      expect((await api('get', 'buyer_suppressions', { query })).body).toMatchObject({
        buyer_suppressions: [{ id: list.id }],
        metadata: { total_count: 1 },
      });
    }
    await api('delete', `buyer_suppressions/${list.id}`);
    expect((await api('get', `buyer_suppressions/${list.id}`)).status).toBe(404);
  });

  test('_grid adds the file it shows', async () => {
    const { id } = (await upload('buyer_suppressions', 'phone\n3105550123\n', { name: 'Grid' }))
      .body.buyer_suppression;
    const { body } = await api('get', `buyer_suppressions/${id}`, {
      query: { serializer: 'buyer_suppression_grid' },
    });
    expect(body.buyer_suppression.buyer_suppression_file_id).toEqual(expect.any(Number));
  });

  test('replaces, adds and removes buyers, by id, uuid and user_buyer_id', async () => {
    const { id } = await create({ buyer_ids: [buyers[0], buyers[1]] });
    const put = async (body: object) =>
      (await api('put', `buyer_suppressions/${id}`, { body })).body.buyer_suppression.buyer_ids;
    expect(await put({ add_user_buyer_ids: ['c'], remove_buyer_ids: [buyers[0]] })).toEqual([
      buyers[1],
      buyers[2],
    ]);
    expect(await put({ buyer_ids: `${buyers[0]}`, remove_user_buyer_ids: ['a'] })).toEqual([]);
    expect(await put({ add_buyer_ids: buyers })).toEqual(buyers);
    expect(
      (await api('put', `buyer_suppressions/${id}`, { body: { add_user_buyer_ids: ['unknown'] } }))
        .body.errors,
    ).toEqual({
      add_user_buyer_ids: [expect.any(String)],
    });
  });

  test('is a column and a field of the buyer, and leaves a buyer that is deleted', async () => {
    const [firstList, secondList] = [await create(), await create()];
    const { buyer } = (
      await api('post', 'buyers', {
        body: { name: 'x', buyer_suppression_ids: [firstList.id, secondList.uuid] },
      })
    ).body;
    expect(buyer.buyer_suppression_ids).toEqual([firstList.id, secondList.id]);
    expect(
      (await api('get', `buyer_suppressions/${firstList.id}`)).body.buyer_suppression.buyer_ids,
    ).toEqual([buyer.id]);
    expect(
      (
        await api('put', `buyers/${buyer.id}`, {
          body: { buyer_suppression_ids: `${secondList.id}` },
        })
      ).body.buyer.buyer_suppression_ids,
    ).toEqual([secondList.id]);
    const { body: copy } = await api('post', 'buyers', { body: { copy_another_buyer: buyer.id } });
    expect(copy.buyer.buyer_suppression_ids).toEqual([secondList.id]);
    await api('delete', `buyers/${buyer.id}`);
    expect(
      (await api('get', `buyer_suppressions/${secondList.id}`)).body.buyer_suppression.buyer_ids,
    ).toEqual([copy.buyer.id]);
    await api('delete', `buyer_suppressions/${secondList.id}`);
    expect((await api('get', `buyers/${copy.buyer.id}`)).body.buyer.buyer_suppression_ids).toEqual(
      [],
    );
  });

  test('loses no buyer to parallel additions and removals', async () => {
    const many = await Promise.all(
      Array.from({ length: 10 }, () => api('post', 'buyers', { body: {} })),
    );
    const ids = many.map(({ body }) => body.buyer.id as number).sort((a, b) => a - b);
    const { id } = await create({ buyer_ids: ids.slice(0, 5) });
    const change = (body: object) => api('put', `buyer_suppressions/${id}`, { body });
    await Promise.all(
      ids.map((buyer, n) => {
        if (n < 5) return change({ remove_buyer_ids: [buyer] });
        if (n % 2 === 0) return change({ add_buyer_ids: [buyer] });
        return api('put', `buyers/${buyer}`, { body: { buyer_suppression_ids: [id] } });
      }),
    );
    expect((await api('get', `buyer_suppressions/${id}`)).body.buyer_suppression.buyer_ids).toEqual(
      ids.slice(5),
    );
  });
});

describe('numbers of a list', () => {
  test('are blocked and unblocked in any spelling, and every one is answered for', async () => {
    const { id } = await create();
    const first = await block(id, [
      '3105550123',
      '(310) 555-0123',
      '+1 212 555 0145',
      13105550166,
      '+44 20 7946 0958',
      'call me',
      '',
    ]);
    expect(first.body).toMatchObject({
      accepted: 5,
      added: 4,
      removed: 0,
      rejected: [
        { caller_id: 'call me', reason: 'is not a possible telephone number' },
        { caller_id: '', reason: 'is empty' },
      ],
      buyer_suppression: { id, blocked: 4 },
    });
    expect((await block(id, ['13105550123', '2125550177'])).body).toMatchObject({
      accepted: 2,
      added: 1,
      buyer_suppression: { blocked: 5 },
    });
    const response = await block(id, ['+13105550123', '9995550000'], 'unblock');
    expect(response.body).toMatchObject({
      accepted: 2,
      added: 0,
      removed: 1,
      rejected: [],
      buyer_suppression: { blocked: 4 },
    });
    expect(await loadNumbers(world.company.api, id)).toEqual([
      '+12125550145',
      '+12125550177',
      '+13105550166',
      '+442079460958',
    ]);
  });

  test('may come as a form, where a plus arrives as a space', async () => {
    const { id } = await create();
    const res = await api('post', `buyer_suppressions/${id}/caller_block`, {
      body: 'caller_ids=+442079460958,+13105550123, 3105550166',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(res.body).toMatchObject({ accepted: 3, added: 3, rejected: [] });
    expect(await loadNumbers(world.company.api, id)).toEqual([
      '+13105550123',
      '+13105550166',
      '+442079460958',
    ]);
  });

  test('come up to 10,000 in a request, and no more', async () => {
    const { id } = await create();
    const numbers = Array.from({ length: 10_001 }, (_, n) => numberAt(n));
    expect((await block(id, numbers)).body.errors).toEqual({
      caller_ids: [expect.stringContaining('10000')],
    });
    expect((await block(id, numbers.slice(1))).body).toMatchObject({
      accepted: 10_000,
      added: 10_000,
      buyer_suppression: { blocked: 10_000 },
    });
    expect((await block(id, [])).status).toBe(422);
  });

  test('are paged, exported and looked for', async () => {
    const { id } = await create();
    await block(id, ['3105550123', '3105550124', '3105550125']);
    const get = async (query: object) =>
      (await api('get', `buyer_suppressions/${id}/caller_ids`, { query })).body;
    expect(await get({ per_page: 2 })).toMatchObject({
      caller_ids: ['+13105550123', '+13105550124'],
      metadata: {
        root: 'caller_ids',
        page: 1,
        total_pages: 2,
        total_count: 3,
        next_cursor: 13105550124,
      },
    });
    expect(await get({ per_page: 2, page: 2 })).toMatchObject({
      caller_ids: ['+13105550125'],
      metadata: { next_cursor: 0 },
    });
    expect(await get({ cursor: 13105550124 })).toMatchObject({
      caller_ids: ['+13105550125'],
      metadata: { page: null, total_count: 3, next_cursor: 0 },
    });
    expect((await get({ cursor: 'x' })).errors).toHaveProperty('cursor');
    expect(await get({ root: 'no' })).toEqual(['+13105550123', '+13105550124', '+13105550125']);
    expect(await get({ caller_id: '(310) 555 0124' })).toMatchObject({
      caller_ids: ['+13105550124'],
      metadata: { total_count: 1 },
    });
    expect(await get({ caller_id: '3105550999' })).toMatchObject({
      caller_ids: [],
      metadata: { total_count: 0 },
    });
    expect((await get({ caller_id: 'unknown' })).errors).toHaveProperty('caller_id');
    const csv = await api('get', `buyer_suppressions/${id}/caller_ids.csv`);
    expect([csv.headers['content-type'], csv.text]).toEqual([
      'text/csv; charset=utf-8',
      'caller_id\n+13105550123\n+13105550124\n+13105550125\n',
    ]);
  });

  test("without a country code are numbers of the company's country", async () => {
    const british = await world.addCompany('British');
    await world.sql("UPDATE companies SET country = 'GB' WHERE id = $1", [british.id]);
    const { id } = (await british.api('post', 'buyer_suppressions', { body: { name: 'GB' } })).body
      .buyer_suppression;
    await british.api('post', `buyer_suppressions/${id}/caller_block`, {
      body: { caller_ids: ['020 7946 0958'] },
    });
    expect(await loadNumbers(british.api, id)).toEqual(['+442079460958']);
  });
});

test('the lookup tells which buyers are suppressed, and by which of their lists', async () => {
  const [mine, otherList, unattached] = [
    await create({ buyer_ids: [buyers[0], buyers[1]] }),
    await create({ buyer_ids: [buyers[1]] }),
    await create(),
  ];
  for (const { id } of [mine, otherList, unattached]) await block(id, ['3105550123']);
  await block(mine.id, ['2125550145']);
  const db = world.deps.tenants.of(world.company.id);
  expect(await findSuppressedBuyers(db, 13105550123, buyers)).toEqual([
    { buyer_id: buyers[0], buyer_suppression_id: mine.id },
    { buyer_id: buyers[1], buyer_suppression_id: mine.id },
    { buyer_id: buyers[1], buyer_suppression_id: otherList.id },
  ]);
  expect(await findSuppressedBuyers(db, 12125550145, [buyers[1]!])).toEqual([
    { buyer_id: buyers[1], buyer_suppression_id: mine.id },
  ]);
  expect(await findSuppressedBuyers(db, 12125550145, [buyers[2]!])).toEqual([]);
  const theirs = await world.addCompany();
  expect(await findSuppressedBuyers(world.deps.tenants.of(theirs.id), 13105550123, buyers)).toEqual(
    [],
  );
  await api('delete', `buyer_suppressions/${mine.id}`);
  expect(await findSuppressedBuyers(db, 13105550123, buyers)).toEqual([
    { buyer_id: buyers[1], buyer_suppression_id: otherList.id },
  ]);
});
