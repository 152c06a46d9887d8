import { createCallWriter, type CallFields } from '../../support/calls';
import { companyWithCalls } from '../../support/company-with-calls';
import { bindCreate } from '../../support/reports';
import type { Company } from '../../support/world';

const here = companyWithCalls();
const { api, ids, createdCalls, listed, findName } = here;

describe('filters select exactly what they name', () => {
  const ALL = 'plain sold paid bought ringing out failed';
  const but = (names: string) =>
    ALL.split(' ')
      .filter((name) => !names.split(' ').includes(name))
      .join(' ');
  test.each<[string, () => object, string]>([
    ['nothing asked', () => ({}), ALL],
    ['offer_id', () => ({ offer_id: ids.offer }), 'sold bought ringing out'],
    ['buyer_id', () => ({ buyer_id: ids.buyer }), 'sold ringing out'],
    ['traffic_source_id', () => ({ traffic_source_id: ids.source }), 'sold'],
    ['schedule_id', () => ({ schedule_id: ids.schedule }), 'out'],
    ['number_id', () => ({ number_id: ids.number }), 'sold out'],
    ['lead_id', () => ({ lead_id: ids.lead }), 'out'],
    ['caller_number, in any spelling', () => ({ caller_number: '(310) 555-0002' }), 'sold'],
    [
      'caller_number of the person who was called',
      () => ({ caller_number: '+13105550123' }),
      'out',
    ],
    ['status', () => ({ status: 'failed' }), 'failed'],
    ['category', () => ({ category: 'outbound' }), 'out'],
    ['the other category', () => ({ category: 'inbound' }), but('out')],
    ['buyer_converted', () => ({ buyer_converted: true }), 'sold bought'],
    ['not buyer_converted', () => ({ buyer_converted: 'no' }), but('sold bought')],
    ['offer_converted', () => ({ offer_converted: 1 }), 'sold paid'],
    ['not offer_converted', () => ({ offer_converted: false }), but('sold paid')],
    ['either_converted', () => ({ either_converted: 'yes' }), 'sold paid bought'],
    ['neither converted', () => ({ either_converted: 'off' }), but('sold paid bought')],
    ['in_progress', () => ({ in_progress: true }), 'ringing out'],
    ['not in_progress', () => ({ in_progress: false }), but('ringing out')],
    ['has_recording', () => ({ has_recording: true }), 'sold'],
    ['not has_recording', () => ({ has_recording: false }), but('sold')],
    ['no_buyer', () => ({ no_buyer: true }), 'plain failed'],
    ['not no_buyer', () => ({ no_buyer: false }), but('plain failed')],
    ['sandbox', () => ({ sandbox: true }), but('out')],
    ['not sandbox', () => ({ sandbox: false }), 'out'],
    ['token_key', () => ({ token_key: 'state' }), 'sold paid'],
    ['token_key and token_value', () => ({ token_key: 'state', token_value: 'NY' }), 'paid'],
    ['a token of another value', () => ({ token_key: 'state', token_value: 'ny' }), ''],
    ['a token that is a number in JSON', () => ({ token_key: 'age', token_value: '42' }), 'sold'],
    [
      'a token that is a boolean in JSON',
      () => ({ token_key: 'veteran', token_value: 'true' }),
      'sold',
    ],
    ['a token of no call', () => ({ token_key: '__proto__', token_value: 'x' }), ''],
    ['ended_at_from', () => ({ ended_at_from: '2027-01-11T13:00:05Z' }), 'paid bought failed'],
    ['ended_at_to', () => ({ ended_at_to: '2027-01-11T13:00:05Z' }), 'plain sold paid'],
    [
      'both ends, in a zone',
      () => ({
        ended_at_from: '2027-01-11 04:02',
        ended_at_to: '2027-01-11 05:00',
        time_zone: 'America/Los_Angeles',
      }),
      'sold',
    ],
    [
      'created_at_from and _to',
      () => ({ created_at_from: '2027-01-11T13:00:00Z', created_at_to: '2027-01-11' }),
      'paid bought',
    ],
    [
      'ids',
      () => ({
        ids: `${createdCalls.paid!.id},${createdCalls.out!.uuid},${createdCalls.gone!.id}`,
      }),
      'paid out',
    ],
    ['fulltext of a number', () => ({ fulltext: '5550002' }), 'sold'],
    ['fulltext of a number with signs between', () => ({ fulltext: '555-00-02' }), 'sold'],
    ['fulltext of a sub id, in any case', () => ({ fulltext: 'GOOG' }), 'sold'],
    ['fulltext of the carrier’s identifier', () => ({ fulltext: 'ca1' }), 'sold'],
    [
      'several together',
      () => ({
        offer_id: ids.offer,
        in_progress: false,
        buyer_converted: true,
        has_recording: false,
      }),
      'bought',
    ],
    ['several that no call meets', () => ({ offer_id: ids.other_offer, buyer_id: ids.buyer }), ''],
    [
      'everything of one call',
      () => ({
        offer_id: ids.offer,
        buyer_id: ids.buyer,
        traffic_source_id: ids.source,
        number_id: ids.number,
        category: 'inbound',
        status: 'completed',
        token_key: 'state',
        token_value: 'CA',
      }),
      'sold',
    ],
  ])('%s', async (_name, query, names) => expect(await listed(query())).toBe(names));

  test('records can be named by uuid or by number', async () => {
    const loadUuid = async (path: string, root: string, id: number) =>
      (await api(`${path}/${id}`)).body[root].uuid;
    expect(await listed({ offer_id: await loadUuid('offers', 'offer', ids.other_offer!) })).toBe(
      'paid',
    );
    expect(await listed({ buyer_id: await loadUuid('buyers', 'buyer', ids.other_buyer!) })).toBe(
      'paid bought',
    );
    expect(await listed({ lead_id: await loadUuid('leads', 'lead', ids.lead!) })).toBe('out');
  });

  test.each([
    [{ token_value: 'CA' }, 'token_key'],
    [{ caller_number: 'call me' }, 'caller_number'],
    [{ status: 'nonsense' }, 'status'],
    [{ category: 'sideways' }, 'category'],
    [{ unbilled_reason: 'bad luck' }, 'unbilled_reason'],
    [{ agent_id: 999_999_999 }, 'agent_id'],
    [{ disposition_id: '0190d6ea-0000-7000-8000-000000000000' }, 'disposition_id'],
    [{ order: 'shoe_size' }, 'order'],
  ])('%p is rejected with the name of the parameter', async (query, field) => {
    const res = await api('calls', query);
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
  });
});

describe('calls of an agent, with a disposition, or unpaid for a reason', () => {
  const filters: Record<string, object> = {};
  const expected: Record<string, string[]> = {};
  const list = async (query: object): Promise<Record<string, unknown>[]> => {
    const { body } = await other.api('get', 'calls', { query });
    expect(body.metadata.total_count).toBe(body.calls.length);
    return body.calls;
  };
  let other: Company;
  beforeAll(async () => {
    other = await here.world.addCompany();
    const make = bindCreate(other);
    const agent = await make('agents', 'agent', { user_email: 'ann@example.com' });
    const disposition = await make('dispositions', 'disposition', { key: 'sold', name: 'Sold' });
    const { call } = createCallWriter(here.world, other);
    const at = '2027-01-11T12:00:00Z';
    const ended = { created_at: at, ended_at: at };
    const connected = { ...ended, connected_at: at };
    const rows: Record<string, CallFields> = {
      paid: { ...connected, buyer_converted: true, agent_id: agent },
      short: { ...connected, unbilled_reason: 'too_short', disposition_id: disposition },
      returned: { ...connected, unbilled_reason: 'returned', agent_id: agent },
      unheard: ended,
      routed: { ...ended, direction: 'outbound', routed: true },
      // It was put through to no buyer.
      direct: { ...ended, direction: 'outbound' },
      ringing: { created_at: at },
    };
    for (const [name, fields] of Object.entries(rows)) await call({ sub_id: name, ...fields });
    Object.assign(filters, {
      agent_id: { agent_id: agent },
      disposition_id: { disposition_id: disposition },
    });
    for (const reason of ['too_short', 'returned', 'not_connected'])
      filters[reason] = { unbilled_reason: reason };
    Object.assign(expected, {
      ...{ agent_id: ['paid', 'returned'], disposition_id: ['short'], too_short: ['short'] },
      ...{ returned: ['returned'], not_connected: ['unheard', 'routed'] },
    });
  });

  test('are found, with their number', async () => {
    for (const [name, query] of Object.entries(filters)) {
      const names = (await list(query)).map(({ sub_id }) => sub_id);
      expect([name, names]).toEqual([name, expected[name]]);
    }
  });

  test('a reason finds the calls that show it', async () => {
    const shown = (await list({})).filter(({ unbilled_reason: reason }) => reason !== null);
    expect(shown.length).toBe(4);
    for (const { id, unbilled_reason: reason } of shown)
      expect((await list({ unbilled_reason: reason })).map((call) => call.id)).toContain(id);
  });

  test('a uuid names an agent, and several filters narrow', async () => {
    const { uuid } = (await other.api('get', 'agents')).body.agents[0];
    expect((await list({ agent_id: uuid, unbilled_reason: 'returned' })).length).toBe(1);
    expect(await list({ agent_id: uuid, unbilled_reason: 'too_short' })).toEqual([]);
  });
});

describe('orders and cursors', () => {
  const orders = ['id', 'created_at', 'ended_at', 'total_duration', 'revenue', 'payout', 'status'];
  test.each(orders.flatMap((order) => ['asc', 'desc'].map((dir) => [order, dir])))(
    'by %s %s return all calls, each once, in the order of a single page',
    async (order, dir) => {
      const whole = (await listed({ order, order_dir: dir, per_page: 100 })).split(' ');
      const seenNames: (string | undefined)[] = [];
      let cursor: string | number = -1;
      for (let pages = 0; pages < 10 && cursor !== 0; pages++) {
        const { body } = await api('calls', { order, order_dir: dir, per_page: 2, cursor });
        seenNames.push(...body.calls.map(({ id }: { id: number }) => findName(id)));
        cursor = body.metadata.next_cursor;
      }
      expect([cursor, seenNames]).toEqual([0, whole]);
      expect(whole.toSorted()).toEqual('bought failed out paid plain ringing sold'.split(' '));
    },
  );

  test('calls in progress are last by ended_at', async () => {
    expect(await listed({ order: 'ended_at' })).toBe('plain sold paid bought failed ringing out');
    expect(await listed({ order: 'revenue', order_dir: 'desc', in_progress: false })).toBe(
      'sold bought failed paid plain',
    );
  });
});
