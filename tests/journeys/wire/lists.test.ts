import { projection } from '../../../src/domain/buyers/buyers-columns';
import { useWorld } from '../../support/use-world';
import { pageTemplate, toListRows } from '../../../src/data/projection/list-statements';

const world = useWorld();
const { api } = world;
const names = ['delta', 'alpha', 'echo', 'bravo', 'charlie', 'golf', 'foxtrot'];
const ids: number[] = [];

beforeAll(async () => {
  for (const [n, name] of names.entries()) {
    const res = await api('post', 'buyers', {
      body: {
        name: n === 6 ? undefined : name,
        tier: n % 3,
        paused: n % 2 === 0,
        user_buyer_id: name,
        number: `+1310555${1000 + n}`,
      },
    });
    ids.push(res.body.buyer.id);
  }
});

const get = async (path: string) => (await api('get', path)).body;
const listIndexes = async (query: string) =>
  (await get(`buyers?${query}`)).buyers.map(({ id }: { id: number }) => ids.indexOf(id));

describe('the envelope', () => {
  test('has the collection under its root key, and metadata', async () => {
    const page = await get('buyers?per_page=3');
    expect(Object.keys(page)).toEqual(['status', 'success', 'buyers', 'metadata']);
    expect(page.metadata).toEqual({
      root: 'buyers',
      page: 1,
      total_pages: 3,
      per_page: 3,
      total_count: 7,
      next_cursor: ids[2],
    });
  });
  test('root=false returns the bare array', async () => {
    for (const no of ['false', '0', 'no', 'off'])
      expect(await get(`buyers?root=${no}&columns=id`)).toEqual(ids.map((id) => ({ id })));
  });
  test('25 records by default, 1000 at most, and a page past the end is empty', async () => {
    expect((await get('buyers')).metadata.per_page).toBe(25);
    expect((await get('buyers?per_page=1000')).buyers).toHaveLength(7);
    expect(await get('buyers?page=99')).toMatchObject({
      buyers: [],
      metadata: { page: 99, total_count: 7, total_pages: 1, next_cursor: 0 },
    });
  });
});

describe('pages and cursors', () => {
  test('pages go through all in the order of ids, each once', async () => {
    const seenIndexes = [];
    for (let page = 1; page <= 4; page++)
      seenIndexes.push(...(await listIndexes(`per_page=2&page=${page}`)));
    expect(seenIndexes).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  const orders = [
    'id',
    'name',
    'tier',
    'paused',
    'number',
    'created_at',
    'last_call_at',
    'weight',
    'time_zone',
    'user_buyer_id',
    'calls_count',
    'attempt_daily_used',
    'revenue_total_used',
  ];
  test.each(orders.flatMap((order) => ['asc', 'desc'].map((dir) => [order, dir])))(
    'cursors go through all by %s %s, each once and as pages do',
    async (order, dir) => {
      const sort = order === 'id' ? `order_dir=${dir}` : `order=${order}&order_dir=${dir}`;
      const whole = await listIndexes(`${sort}&per_page=100`);
      const seenIndexes: number[] = [];
      let cursor: string | number = -1;
      for (let pages = 0; pages < 10 && cursor !== 0; pages++) {
        const page = await get(`buyers?${sort}&per_page=2&cursor=${cursor}`);
        seenIndexes.push(...page.buyers.map(({ id }: { id: number }) => ids.indexOf(id)));
        expect(page.metadata.page).toBe(null);
        cursor = page.metadata.next_cursor;
      }
      expect(cursor).toBe(0);
      expect(seenIndexes).toEqual(whole);
      expect(seenIndexes.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6]);
    },
  );

  test.each(['nonsense', '-2', '1.5', 'eyJ4IjoxfQ', '99999999999999999999'])(
    'the cursor %s is refused',
    async (cursor) => {
      for (const sort of ['', '&order=name']) {
        const res = await api('get', `buyers?cursor=${cursor}${sort}`);
        expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['cursor']]);
      }
    },
  );
  test('the cursor 0 is the end: nothing follows it, and the count stays', async () => {
    for (const sort of ['', '&order=name'])
      expect(await get(`buyers?cursor=0${sort}`)).toMatchObject({
        buyers: [],
        metadata: { total_count: 7, next_cursor: 0 },
      });
  });
  test('a cursor is the id of the last record: the next page begins after it in any order', async () => {
    const firstPage = await get('buyers?order=name&per_page=2&cursor=-1');
    expect(firstPage.metadata.next_cursor).toBe(firstPage.buyers.at(-1)!.id);
    const { next_cursor } = firstPage.metadata;
    const all = (await get('buyers?order=tier&order_dir=desc')).buyers.map(
      ({ id }: { id: number }) => id,
    );
    const after = await get(`buyers?order=tier&order_dir=desc&cursor=${next_cursor}`);
    expect(after.buyers.map(({ id }: { id: number }) => id)).toEqual(
      all.slice(all.indexOf(next_cursor) + 1),
    );
  });

  test('the cursor of a record that does not exist is refused in an order that needs it', async () => {
    expect((await api('get', 'buyers?order=name&cursor=987654321')).status).toBe(422);
  });
});

describe('filters', () => {
  test('number, paused, ids, fulltext and created_at narrow the list and its count', async () => {
    expect(await listIndexes('number=%2B13105551003')).toEqual([3]);
    expect(await listIndexes('number=+13105551003')).toEqual([3]);
    expect(await listIndexes('paused=yes')).toEqual([0, 2, 4, 6]);
    expect(await listIndexes(`ids=${ids[5]},${ids[1]}`)).toEqual([1, 5]);
    expect(await listIndexes('fulltext=RAV')).toEqual([3]);
    expect(await listIndexes('fulltext=1310555')).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(await listIndexes('fulltext=%25')).toEqual([]);
    expect(await listIndexes('fulltext=_')).toEqual([]);
    expect(await listIndexes('created_at_from=2099-01-01')).toEqual([]);
    expect((await get('buyers?paused=no&per_page=1')).metadata).toMatchObject({
      total_count: 3,
      total_pages: 3,
    });
  });
  test('order with nulls: last ascending, first descending', async () => {
    expect(await listIndexes('order=name')).toEqual([1, 3, 4, 0, 2, 5, 6]);
    expect(await listIndexes('order=name&order_dir=desc')).toEqual([6, 5, 2, 0, 4, 3, 1]);
  });
  test('an unknown order is refused with those that are known', async () => {
    const res = await api('get', 'buyers?order=shoe_size');
    expect(res.body.errors.order[0]).toContain('user_buyer_id');
  });
});

describe('columns', () => {
  test('only those asked for are returned, in contract order; others are reported', async () => {
    const page = await get('buyers?columns=number,id,nonsense,name,other&per_page=1');
    expect(Object.keys(page.buyers[0])).toEqual(['id', 'name', 'number']);
    expect(page.metadata.unknown_columns).toEqual(['nonsense', 'other']);
  });
  test('those that need another table read it only when asked for', async () => {
    const shape = {
      conditions: [],
      sort: 'key' as const,
      descending: false,
      limit: 2,
      offset: 0,
      total: 'none' as const,
    };
    const sql = (columns: string[]) =>
      pageTemplate(toListRows(projection, { columns }), shape)({ company_id: 1, now: '' }).text;
    expect(sql(['id', 'name'])).not.toMatch(
      /call_limits|buyer_conversions|buyer_business_hours|buyer_group_members/,
    );
    expect(sql(['attempt_daily_used'])).toMatch(/call_limits/);
    expect(sql(['current_conversion_revenue'])).toMatch(/buyer_conversions/);
  });
  test('serializer=buyer_grid adds foreign keys; an empty serializer is the default', async () => {
    const plain = (await get(`buyers/${ids[0]}`)).buyer;
    const grid = (await get(`buyers/${ids[0]}?serializer=buyer_grid`)).buyer;
    expect((await get(`buyers/${ids[0]}?serializer=`)).buyer).toEqual(plain);
    expect(Object.keys(grid).filter((key) => !(key in plain))).toEqual([
      'call_limit_id',
      'current_conversion_id',
      'buyer_conversion_ids',
      'paused_by_user_id',
      'team_ids',
    ]);
    expect((await api('get', 'buyers?serializer=nonsense')).status).toBe(422);
  });
});

describe('CSV', () => {
  test('by ending, by format and by Accept: the whole result with the same columns', async () => {
    const ending = await api('get', 'buyers.csv?columns=id,name,paused');
    const format = await api('get', 'buyers?columns=id,name,paused&format=csv');
    const accept = await api('get', 'buyers?columns=id,name,paused', {
      headers: { Accept: 'text/csv' },
    });
    expect(ending.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(ending.headers['content-disposition']).toContain('buyers.csv');
    expect([format.text, accept.text]).toEqual([ending.text, ending.text]);
    expect(ending.text.split('\n')).toEqual([
      'id,name,paused',
      ...ids.map((id, n) => `${id},${n === 6 ? '' : names[n]},${n % 2 === 0}`),
      '',
    ]);
  });
  test('.json is another spelling of every list; format=json wins over Accept', async () => {
    expect((await get('buyers.json?per_page=1')).metadata.per_page).toBe(1);
    expect((await get('access_tokens.json')).metadata.root).toBe('access_tokens');
    expect((await get('collections/route_by_type.json')).metadata.root).toBe('collection');
    expect(
      (await api('get', 'buyers?format=json', { headers: { Accept: 'text/csv' } })).body.metadata
        .root,
    ).toBe('buyers');
    expect((await api('get', 'access_tokens.csv')).status).toBe(404);
  });
  test('has every column of the resource by default, filters, and orders', async () => {
    const all = await api('get', 'buyers.csv?paused=no&order=name&order_dir=desc');
    const [header, first] = all.text.split('\n');
    expect(header!.split(',')).toEqual(Object.keys((await get('buyers?per_page=1')).buyers[0]));
    expect(first!.startsWith(`${ids[5]},`)).toBe(true);
    expect(all.text.trim().split('\n')).toHaveLength(4);
  });
  test('no cell is run as a formula, and numbers stay numbers', async () => {
    const otherCompany = await world.addCompany();
    for (const name of [
      '=1+1',
      '+1+1',
      '-2+3',
      '@SUM(A1)',
      '|cmd',
      '\tx',
      '＝1+1',
      '＠SUM(A1)',
      'a;=1+1;b',
      'a\t@x',
      'a; b - c',
      '-12.5',
      '+13105550123',
      'plain "quoted", text',
    ])
      await otherCompany.api('post', 'buyers', { body: { name } });
    const { text } = await otherCompany.api('get', 'buyers.csv?columns=name');
    expect(text.split('\n').slice(1, -1)).toEqual([
      "'=1+1",
      "'+1+1",
      "'-2+3",
      "'@SUM(A1)",
      "'|cmd",
      "'\tx",
      "'＝1+1",
      "'＠SUM(A1)",
      "a;'=1+1;b",
      "a\t'@x",
      'a; b - c',
      '-12.5',
      '+13105550123',
      '"plain ""quoted"", text"',
    ]);
  });
  test('a client that disconnects leaves no connection open', async () => {
    const before = world.deps.database.pool.totalCount;
    await Promise.all(Array.from({ length: 5 }, () => api('head', 'buyers.csv')));
    expect((await get('buyers')).success).toBe(true);
    expect(world.deps.database.pool.totalCount).toBeLessThanOrEqual(before + 16);
    expect(world.deps.database.pool.waitingCount).toBe(0);
  });
});
