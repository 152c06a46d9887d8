import { twoServers } from '../../support/two-servers';

const here = twoServers();
const { create, send } = here;

type Fields = Record<string, unknown>;

test('a change through one process is seen by the next call of the other', async () => {
  here.world.company = await here.world.addCompany();
  const [firstBuyer, secondBuyer] = [
    await create('buyers', { number: '+12125550101', tier: 1 }),
    await create('buyers', { number: '+12125550102', tier: 2 }),
  ];
  const group = await create('buyer_groups', { name: 'Group', buyer_ids: [secondBuyer] });
  const offer = await create('offers', {
    name: 'Auto',
    buyer_ids: [firstBuyer],
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
      decision.candidates.map(({ buyer_id, reason }) => [
        buyer_id === firstBuyer ? 'first' : 'second',
        reason,
      ]),
    );
  };
  const open = { first: null, second: null };
  const changes: [method: string, path: string, body: Fields, seen: Fields][] = [
    ['PUT', `buyers/${firstBuyer}`, { paused: true }, { first: 'paused', second: null }],
    [
      'PUT',
      `buyers/${firstBuyer}`,
      { paused: false, record_token_filter_list: ['state:TX'] },
      { first: 'filter_unmet', second: null },
    ],
    [
      'PUT',
      `buyers/${firstBuyer}`,
      {
        record_token_filter_list: [],
        business_hours_schedule: [{ schedule: [{ day: 2, times: ['09:00..10:00'] }] }],
      },
      { first: 'closed', second: null },
    ],
    [
      'PUT',
      `buyers/${firstBuyer}`,
      { business_hours_schedule: [], attempt_daily_limit: 0 },
      { first: 'cap_reached', second: null },
    ],
    [
      'PUT',
      `buyers/${firstBuyer}`,
      { attempt_daily_limit: null, buyer_suppression_ids: [list] },
      open,
    ],
    [
      'POST',
      `buyer_suppressions/${list}/caller_block`,
      { caller_ids: ['+13105550188'] },
      { first: 'suppressed', second: null },
    ],
    [
      'PUT',
      `buyer_suppressions/${list}`,
      { buyer_ids: [secondBuyer] },
      { first: null, second: 'suppressed' },
    ],
    ['DELETE', `buyer_suppressions/${list}`, {}, open],
    ['PUT', `buyer_groups/${group}`, { paused: true }, { first: null, second: 'group_paused' }],
    [
      'PUT',
      `buyer_groups/${group}`,
      { paused: false, concurrency_cap: 0 },
      { first: null, second: 'concurrency_full' },
    ],
    [
      'PUT',
      `buyer_groups/${group}`,
      { concurrency_cap: null, remove_buyer_ids: [secondBuyer] },
      { first: null },
    ],
    ['PUT', `buyer_groups/${group}`, { add_buyer_ids: [secondBuyer] }, open],
    ['PUT', `offers/${offer}`, { remove_buyer_ids: [firstBuyer] }, { second: null }],
    [
      'PUT',
      `offers/${offer}`,
      { add_buyer_ids: [firstBuyer], buyer_group_ids: [] },
      { first: null },
    ],
    [
      'PUT',
      `offers/${offer}`,
      { buyer_group_ids: [group], paused: true },
      { first: 'offer_paused', second: 'offer_paused' },
    ],
    ['PUT', `offers/${offer}`, { paused: false }, open],
    ['DELETE', `buyers/${secondBuyer}`, {}, { first: null }],
  ];
  for (const [n, [method, path, body, expected]] of changes.entries()) {
    await ask(n % 2, method, path, body);
    expect([path, body, await reasons((n + 1) % 2), await reasons(n % 2)]).toEqual([
      path,
      body,
      expected,
      expected,
    ]);
  }
});
