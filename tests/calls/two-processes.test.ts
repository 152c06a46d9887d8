import { twoServers } from '../support/two-servers';

const here = twoServers();
const { create, send } = here;

type Fields = Record<string, unknown>;

test('a change through one process is seen by the next call of the other', async () => {
  here.world.company = await here.world.addCompany();
  const [one, two] = [
    await create('buyers', { number: '+12125550101', tier: 1 }),
    await create('buyers', { number: '+12125550102', tier: 2 }),
  ];
  const group = await create('buyer_groups', { name: 'Group', buyer_ids: [two] });
  const offer = await create('offers', {
    name: 'Auto',
    buyer_ids: [one],
    buyer_group_ids: [group],
  });
  const list = await create('buyer_suppressions', { name: 'DNC' });
  const ask = async (server: number, method: string, path: string, body: Fields) => {
    const res = await send(server, method, path, body);
    if (res.status >= 300) throw new Error(await res.text());
    return (await res.json()) as {
      decision: {
        candidates: {
          buyer_id: number;
          reason: string | null;
          tier: number;
          buyer_group_id: number | null;
        }[];
        buyer_ids: number[];
      };
    };
  };
  const reasons = async (server: number) => {
    const { decision } = await ask(server, 'POST', 'routing/explain', {
      offer_id: offer,
      caller_number: '+13105550188',
      tokens: { state: 'CA' },
      at: '2026-06-01T12:30:00Z',
    });
    return Object.fromEntries(
      decision.candidates.map(({ buyer_id, reason }) => [buyer_id === one ? 'one' : 'two', reason]),
    );
  };
  const open = { one: null, two: null };
  const changes: [method: string, path: string, body: Fields, seen: Fields][] = [
    ['PUT', `buyers/${one}`, { paused: true }, { one: 'paused', two: null }],
    [
      'PUT',
      `buyers/${one}`,
      { paused: false, record_token_filter_list: ['state:TX'] },
      { one: 'filter_unmet', two: null },
    ],
    [
      'PUT',
      `buyers/${one}`,
      {
        record_token_filter_list: [],
        business_hours_schedule: [{ schedule: [{ day: 2, times: ['09:00..10:00'] }] }],
      },
      { one: 'closed', two: null },
    ],
    [
      'PUT',
      `buyers/${one}`,
      { business_hours_schedule: [], attempt_daily_limit: 0 },
      { one: 'cap_reached', two: null },
    ],
    ['PUT', `buyers/${one}`, { attempt_daily_limit: null, buyer_suppression_ids: [list] }, open],
    [
      'POST',
      `buyer_suppressions/${list}/caller_block`,
      { caller_ids: ['+13105550188'] },
      { one: 'suppressed', two: null },
    ],
    ['PUT', `buyer_suppressions/${list}`, { buyer_ids: [two] }, { one: null, two: 'suppressed' }],
    ['DELETE', `buyer_suppressions/${list}`, {}, open],
    ['PUT', `buyer_groups/${group}`, { paused: true }, { one: null, two: 'group_paused' }],
    [
      'PUT',
      `buyer_groups/${group}`,
      { paused: false, concurrency_cap: 0 },
      { one: null, two: 'concurrency_full' },
    ],
    [
      'PUT',
      `buyer_groups/${group}`,
      { concurrency_cap: null, remove_buyer_ids: [two] },
      { one: null },
    ],
    ['PUT', `buyer_groups/${group}`, { add_buyer_ids: [two] }, open],
    ['PUT', `offers/${offer}`, { remove_buyer_ids: [one] }, { two: null }],
    ['PUT', `offers/${offer}`, { add_buyer_ids: [one], buyer_group_ids: [] }, { one: null }],
    [
      'PUT',
      `offers/${offer}`,
      { buyer_group_ids: [group], paused: true },
      { one: 'offer_paused', two: 'offer_paused' },
    ],
    ['PUT', `offers/${offer}`, { paused: false }, open],
    ['DELETE', `buyers/${two}`, {}, { one: null }],
  ];
  for (const [n, [method, path, body, seen]] of changes.entries()) {
    await ask(n % 2, method, path, body);
    expect([path, body, await reasons((n + 1) % 2), await reasons(n % 2)]).toEqual([
      path,
      body,
      seen,
      seen,
    ]);
  }
});
