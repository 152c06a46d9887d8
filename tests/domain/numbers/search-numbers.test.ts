import { DOWN, useMarket } from '../../support/numbers';

const market = useMarket();
const { api, bought, otherApi, search } = market;

describe('a search', () => {
  test('answers numbers by number, in pages, by number of page and by cursor', async () => {
    const first = await api('get', 'phone_numbers/search', {
      query: { prefix: '808', per_page: 40 },
    });
    expect(first.body).toMatchObject({ status: 200, success: true });
    expect(first.body.phone_number_search_results[0]).toEqual({
      id: '+18085550110',
      legacy_id: '+18085550110',
      type: 'PhoneNumberSearchResult',
      phone_number: '+18085550110',
      country: 'US',
    });
    expect(first.body.metadata).toEqual({
      root: 'phone_number_search_results',
      page: 1,
      total_pages: 3,
      per_page: 40,
      total_count: 90,
      next_cursor: 40,
    });
    const third = await api('get', 'phone_numbers/search', {
      query: { prefix: '808', per_page: 40, page: 3 },
    });
    expect([
      third.body.phone_number_search_results.length,
      third.body.metadata.next_cursor,
    ]).toEqual([10, 0]);
    const next = await api('get', 'phone_numbers/search', {
      query: { prefix: '808', per_page: 40, cursor: '40' },
    });
    expect([next.body.phone_number_search_results[0].id, next.body.metadata.page]).toEqual([
      '+18085550150',
      null,
    ]);
    expect(
      (await api('get', 'phone_numbers/search', { query: { prefix: '808', cursor: '0' } })).body
        .phone_number_search_results,
    ).toEqual([]);
    expect(
      (
        await api('get', 'phone_numbers/search.json', {
          query: { prefix: '808', root: false, per_page: 1 },
        })
      ).body,
    ).toHaveLength(1);
  });

  test.each([
    [{}, /^\+1/],
    [{ country: 'GB' }, /^\+44/],
    [{ country: 'AU', toll_free: 'yes' }, /^\+611800/],
    [{ country: 'GB', prefix: ' 44161' }, /^\+44161/],
    [{ query: '(808) 555-01**' }, /^\+180855501/],
    [{ query: '+18085550177' }, /^\+18085550177$/],
    [{ query: 'lll0177' }, /5550177$/],
  ])('by %p finds numbers like %p', async (query, pattern) => {
    const numbers = await search(query);
    expect(numbers.length).toBeGreaterThan(0);
    for (const number of numbers) expect(number).toMatch(pattern);
  });

  test.each([
    { country: 'DE' },
    { prefix: 'abc' },
    { query: '#' },
    { cursor: 'x' },
    { toll_free: 'maybe' },
  ])('refuses %p by name', async (query) => {
    const res = await api('get', 'phone_numbers/search', { query });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, Object.keys(query)]);
  });

  test('omits numbers that a company owns, and is 503 while the carrier is down', async () => {
    const { phone_number } = await bought({ prefix: '808' }, otherApi);
    expect(await search({ prefix: '808' })).not.toContain(phone_number);
    expect(await search({ prefix: '808' })).toHaveLength(89);
    market.carrier.trouble.search = DOWN;
    const res = await api('get', 'phone_numbers/search');
    expect([res.status, res.headers['retry-after']]).toEqual([503, '5']);
  });
});
