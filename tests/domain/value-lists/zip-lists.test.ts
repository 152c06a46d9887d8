import { parseZip } from '../../../src/domain/value-lists/zips';
import { CALLER, softswitch } from '../../support/softswitch';

// Lists of ZIP codes, which say where the callers of a buyer must be.

const on = softswitch('2026-06-01T16:00:00Z');
const { ok, buyer, offer } = on;

type Fields = Record<string, unknown>;

const { api } = on.world;
const createList = async (body: Fields = {}) =>
  (await ok('post', 'zip_lists', { name: 'West coast', ...body })).zip_list;
const loadValues = async (id: number, query = {}) =>
  (await api('get', `zip_lists/${id}/values`, { query })).body.values;

test.each([
  ['90210', '90210'],
  [' 90210 ', '90210'],
  ['90210-1234', '90210'],
  ['902101234', '90210'],
  ['2108', '02108'],
  ['501', '00501'],
  ['2108-4321', '02108'],
  ['12', undefined],
  ['902100', undefined],
  ['90210-12', undefined],
  ['K1A 0B1', undefined],
  ['', undefined],
])('the ZIP code of %j is %j', (text, zip) => {
  expect(parseZip(text)).toBe(zip);
});

describe('a list of ZIP codes', () => {
  test('is created, changed, read and deleted like any value list, and is one', async () => {
    const list = await createList({ values: ['90001', '90001-1234', ' 2108', ''] });
    expect(list).toMatchObject({ kind: 'zip_codes', values_count: 2, in_use: false });
    expect(await loadValues(list.id)).toEqual(['02108', '90001']);
    expect(await loadValues(list.id, { value: '02108-7777' })).toEqual(['02108']);
    const added = await ok('post', `zip_lists/${list.id}/add_values`, { values: [501, '90001'] });
    expect(added).toMatchObject({ accepted: 2, added: 1, zip_list: { values_count: 3 } });
    const removed = await ok('post', `value_lists/${list.id}/remove_values`, { values: ['501'] });
    expect(removed).toMatchObject({ accepted: 1, removed: 1, value_list: { kind: 'zip_codes' } });
    await ok('put', `zip_lists/${list.id}`, { name: 'Coast', values: ['10001-0001'] });
    expect(await loadValues(list.id)).toEqual(['10001']);
    expect((await ok('get', `value_lists/${list.id}`)).value_list.name).toBe('Coast');
    expect((await ok('delete', `zip_lists/${list.id}`)).zip_list.deleted_at).not.toBe(null);
    expect((await api('get', `zip_lists/${list.id}`)).status).toBe(404);
  });

  test('comes from a CSV file; another line is refused with its number', async () => {
    const sendFile = (text: string) =>
      api('post', 'zip_lists', { form: { name: 'North', import_file: Buffer.from(text) } });
    const refused = await sendFile('city,zip\nBoston,2108\nOttawa,K1A 0B1\nNowhere,12\n,\n');
    expect([refused.status, refused.body.errors.import_file[0]]).toEqual([
      422,
      expect.stringContaining('these are none: K1A 0B1 in line 3, 12 in line 4'),
    ]);
    expect((await ok('get', 'zip_lists')).zip_lists).toEqual([]);
    const { status, body } = await sendFile('city,zip\nBoston,2108\nLA,90001-1234\nLA,90001\n');
    expect([status, body.zip_list.values_count]).toEqual([201, 2]);
    const added = await api('post', `zip_lists/${body.zip_list.id}/add_values`, {
      form: { import_file: Buffer.from('94101\n94102\n') },
    });
    expect([added.status, added.body.added]).toEqual([200, 2]);
    expect(await loadValues(body.zip_list.id)).toEqual(['02108', '90001', '94101', '94102']);
  });

  test('takes ZIP codes only, whatever path names it', async () => {
    const { id } = await createList();
    for (const [method, path] of [
      ['post', `value_lists/${id}/add_values`],
      ['post', `zip_lists/${id}/remove_values`],
      ['put', `value_lists/${id}`],
    ] as const) {
      const { status, body } = await api(method, path, { body: { values: ['90001', 'CA'] } });
      expect([status, body.errors.values[0]]).toEqual([422, expect.stringContaining('none: CA')]);
    }
    expect(await loadValues(id)).toEqual([]);
  });

  test('is the only kind that zip_lists has, and stays of its kind', async () => {
    const any = (await ok('post', 'value_lists', { name: 'Any', values: ['CA'] })).value_list;
    const zips = (await ok('post', 'value_lists', { name: 'Zips', kind: 'zip_codes' })).value_list;
    expect([any.kind, zips.kind]).toEqual(['values', 'zip_codes']);
    const listed = await ok('get', 'zip_lists');
    expect(listed.zip_lists.map(({ id }: Fields) => id)).toEqual([zips.id]);
    expect(listed.metadata).toMatchObject({ root: 'zip_lists', total_count: 1 });
    expect((await ok('get', 'value_lists')).metadata.total_count).toBe(2);
    for (const [method, path, body] of [
      ['get', ''],
      ['put', '', {}],
      ['delete', ''],
      ['get', '/values'],
      ['post', '/add_values', { values: ['90001'] }],
      ['post', '/remove_values', { values: ['90001'] }],
    ] as const)
      expect((await api(method, `zip_lists/${any.id}${path}`, body ? { body } : {})).status).toBe(
        404,
      );
    const changed = await api('put', `value_lists/${any.id}`, { body: { kind: 'zip_codes' } });
    expect([changed.status, Object.keys(changed.body.errors)]).toEqual([422, ['kind']]);
    const response = await api('post', 'zip_lists', { body: { name: 'ANY' } });
    expect([response.status, Object.keys(response.body.errors)]).toEqual([422, ['name']]);
  });
});

describe('a buyer with a ZIP list', () => {
  test('gets calls from its ZIP codes alone, from the next call on', async () => {
    const list = await createList({ values: ['90210', '2108'] });
    const id = await buyer({ zip_list_id: list.uuid });
    expect((await ok('get', `buyers/${id}`)).buyer.zip_list_id).toBe(list.id);
    const offerId = await offer({ buyer_ids: [id] });
    const explained = async (tokens: Fields) => {
      const request = { offer_id: offerId, caller_number: CALLER, tokens };
      const [{ reason, details }] = (await ok('post', 'routing/explain', request)).decision
        .candidates;
      return reason && [reason, details];
    };
    const unmet = ['filter_unmet', { filter: 'geo_zip:in_list West coast' }];
    for (const tokens of [{ zip: '90210' }, { zip: '90210-1234' }, { zip_postal_code: '02108' }])
      expect(await explained(tokens)).toBe(null);
    expect(await explained({ zip: '90211' })).toEqual(unmet);
    expect(await explained({})).toEqual(unmet);
    await ok('post', `zip_lists/${list.id}/add_values`, { values: ['90211'] });
    expect(await explained({ zip: '90211' })).toBe(null);
    await ok('put', `buyers/${id}`, { zip_list_id: null });
    expect(await explained({})).toBe(null);
  });

  test('must name a ZIP list of its company', async () => {
    const any = (await ok('post', 'value_lists', { name: 'Any' })).value_list;
    const otherCompany = await on.world.addCompany();
    const body = { name: 'Theirs' };
    const theirs = (await otherCompany.api('post', 'zip_lists', { body })).body.zip_list;
    for (const [zipListId, message] of [
      [any.id, 'must be a list of ZIP codes'],
      [theirs.id, 'names no record of yours'],
      [theirs.uuid, 'names no record of yours'],
    ])
      expect(await on.errors('buyers', { name: 'B', zip_list_id: zipListId })).toEqual([
        422,
        { zip_list_id: [expect.stringContaining(message)] },
      ]);
  });

  test('keeps its list from being renamed or deleted', async () => {
    const list = await createList();
    const id = await buyer({ name: 'Bay', zip_list_id: list.id });
    expect((await ok('get', `zip_lists/${list.id}`)).zip_list.in_use).toBe(true);
    for (const res of [
      await api('delete', `zip_lists/${list.id}`),
      await api('delete', `value_lists/${list.id}`),
      await api('put', `zip_lists/${list.id}`, { body: { name: 'Others' } }),
    ])
      expect([res.status, res.body.errors.name[0]]).toEqual([
        422,
        expect.stringContaining(`it is used by Buyer ${id} (Bay)`),
      ]);
    await ok('delete', `buyers/${id}`);
    expect((await api('delete', `zip_lists/${list.id}`)).status).toBe(200);
  });

  test('finds its list, or the list is deleted first: never both', async () => {
    const id = await buyer();
    for (let n = 0; n < 5; n++) {
      const list = await createList({ name: `List ${n}` });
      const [set, deleted] = await Promise.all([
        api('put', `buyers/${id}`, { body: { zip_list_id: list.id } }),
        api('delete', `zip_lists/${list.id}`),
      ]);
      expect([
        [200, 422],
        [422, 200],
      ]).toContainEqual([set.status, deleted.status]);
      await ok('put', `buyers/${id}`, { zip_list_id: null });
    }
  });
});
