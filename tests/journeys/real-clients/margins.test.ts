import { contract, type Operation } from '../../../src/platform/contract/contract';
import type { Schema, MoneyVisibility } from '../../../src/platform/contract/contract-document';
import { SECRETS, createSoldCall, type Margin } from '../../support/margin';
import { softswitch } from '../../support/softswitch';
import type { Member } from '../../support/teams';

// Derived from openapi.yaml: who is granted buyers reads nothing of what traffic sources are paid,
// and who is granted traffic sources nothing of what buyers pay, by any operation.

const here = softswitch('2026-06-01T16:30:00Z');
let margin: Margin;
beforeEach(async () => {
  margin = await createSoldCall(here);
});

const schemas = contract.document.components.schemas;
const columns = Object.entries(schemas).flatMap(([schema, { properties = {} }]) =>
  Object.entries(properties).map(([name, property]) => ({
    schema,
    name,
    side: property['x-money'],
  })),
);
const listHidden = (side: MoneyVisibility) =>
  new Set(columns.flatMap((column) => (column.side && column.side !== side ? column.name : [])));
/** Columns that each kind of user never reads. */
const TABLES = { buyers: listHidden('sale'), sources: listHidden('purchase') };
/** Grants of each kind of user, and texts that must not be in any answer to it. */
const USERS = {
  buyers: {
    grants: () => ({ buyer_ids: [margin.ids.buyers] }),
    secrets: [...SECRETS.purchase, ...SECRETS.profit, ...SECRETS.company],
  },
  groups: {
    grants: () => ({ buyer_group_ids: [margin.ids.buyer_groups] }),
    secrets: [...SECRETS.purchase, ...SECRETS.profit, ...SECRETS.company],
  },
  sources: {
    grants: () => ({ traffic_source_ids: [margin.ids.traffic_sources] }),
    secrets: [...SECRETS.sale, ...SECRETS.profit, ...SECRETS.company],
  },
};
type Kind = keyof typeof USERS;
const KINDS = Object.keys(USERS) as Kind[];
const selectHidden = (kind: Kind) => TABLES[kind === 'sources' ? 'sources' : 'buyers'];

const reading = contract.operations.filter(
  ({ method, credentials, effect }) => method === 'get' && credentials === 'account' && !effect,
);
const buildPath = ({ path }: Operation) => {
  const table = path.split('/')[3]!;
  return path
    .replace('{id}', String(margin.ids[table] ?? 1))
    .replace('{user_buyer_id}', 'secret-buyer')
    .replace('{caller_id}', '+13105550188')
    .replace('{collection}', 'route_by_type');
};

/** The hidden columns that have a value somewhere in an answer. */
function findHidden(value: unknown, hidden: ReadonlySet<string>): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => findHidden(item, hidden));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    hidden.has(name) && typeof inner !== 'object' ? [name] : findHidden(inner, hidden),
  );
}

test('the tables of columns have what tells a margin', () => {
  expect([...TABLES.buyers]).toEqual(
    expect.arrayContaining(['payout', 'traffic_source', 'profit', 'earned_revenue_daily_used']),
  );
  expect([...TABLES.sources]).toEqual(
    expect.arrayContaining(['revenue', 'buyer', 'buyer_id', 'buyer_converted', 'profit']),
  );
  for (const hidden of Object.values(TABLES))
    expect([...hidden]).toEqual(expect.arrayContaining(['service_cost', 'provider_cost']));
  expect(TABLES.buyers.has('revenue')).toBe(false);
  expect(TABLES.sources.has('payout')).toBe(false);
});

const TELLING_COLUMNS = {
  purchase:
    /^(payouts?|traffic_source|traffic_source_(id|payout|converted)|user_traffic_source_id)$/,
  both: /^(profit|earned_revenue_\w+)$/,
  company: /^(service|provider)_cost$/,
  sale: /^(revenue|buyer|buyer_(id|converted|revenue|repeat_caller)|user_buyer_id|epc)$/,
};
/** Answers that belong to the company alone, or that show a side to those who own it. */
const EXEMPT_SCHEMAS: Record<string, RegExp> = {
  // Payouts of an offer are hidden as a whole, and caps of all but visible buyers. Accounts and
  // tokens are seen by those who are granted their buyer or their source, alert rules by no limited
  // user.
  purchase:
    /^(TrafficSource|TrafficSourceReply|OfferPayout|CapStanding|TrafficSourceToken|AlertRule|AccountEntry|Statement|StatementTotals)$/,
  both: /^$/,
  company: /^$/,
  // Names of buyers here are hidden by the buyer; agents, messages and logs have no dollars.
  sale: /^(Buyer|BuyerGroup|BuyerReply|ConversionAttributes|CallEvent|CallAttempt|WebhookLog|ConsideredBuyer|DecidedBid|AvailableBuyer|CapStanding|DialBuyer|AlertRule|AccountEntry|Statement|Told\w+|Ping\w+|PostReply|FullReply)$/,
};

test.each(Object.keys(TELLING_COLUMNS) as MoneyVisibility[])(
  'every column that tells of the %s is marked in the contract',
  (side) => {
    const records = new Set(reading.flatMap((operation) => [...collectSchemas(operation)]));
    const unmarked = columns.filter(
      ({ schema, name, side: marked }) =>
        records.has(schema) &&
        TELLING_COLUMNS[side].test(name) &&
        !marked &&
        !EXEMPT_SCHEMAS[side]!.test(schema),
    );
    expect(unmarked).toEqual([]);
  },
);

/** The names of all schemas in the answers of an operation. */
function collectSchemas(operation: Operation): Set<string> {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { $ref } = node as Schema;
    const name = $ref?.match(/schemas\/(\w+)$/)?.[1];
    if (name && !names.has(name)) {
      names.add(name);
      visit(schemas[name]);
    }
    Object.values(node).forEach(visit);
  };
  visit(operation.responses['200']);
  return names;
}

test.each(KINDS)('what is hidden from a user of %s is in no answer of any read', async (kind) => {
  const { grants, secrets } = USERS[kind];
  const user = await margin.user(kind, grants());
  const answered: string[] = [];
  for (const operation of reading) {
    // A stream would go on for an hour.
    const query = operation.id.startsWith('stream') ? { wait_seconds: 0 } : {};
    const paths = [buildPath(operation), ...(operation.csv ? [`${buildPath(operation)}.csv`] : [])];
    for (const path of paths) {
      const res = await user.api('get', path, { query });
      // A refusal repeats the path.
      if (res.status !== 200) continue;
      const leakedSecrets = secrets.filter((secret) => res.text.includes(secret));
      const filled = path.endsWith('.csv') ? [] : findHidden(res.body, selectHidden(kind));
      expect([path, leakedSecrets, filled]).toEqual([path, [], []]);
      answered.push(operation.id);
    }
  }
  expect(answered).toEqual(
    expect.arrayContaining(['listCalls', 'showCall', 'listCallEvents', 'reportCalls', 'listLeads']),
  );
});

test.each(KINDS)('a user of %s reads the other side of the same call', async (kind) => {
  const { grants } = USERS[kind];
  const user = await margin.user(kind, grants());
  const { me } = (await user.api('get', 'me')).body;
  expect(me.visible_money).toEqual([kind === 'sources' ? 'payout' : 'revenue']);
  const [call] = (await user.api('get', 'calls')).body.calls;
  const [lead] = (await user.api('get', 'leads')).body.leads;
  const { totals } = (await user.api('get', 'calls/reports')).body;
  if (kind === 'sources') {
    expect(call).toMatchObject({ payout: 7.77, traffic_source: 'Secret Source', revenue: null });
    expect(lead).toMatchObject({ payout: 7.77, offer_converted: true, buyer_converted: null });
    expect(totals).toMatchObject({ calls: 1, payout: 7.77, revenue: null, profit: null });
  } else {
    expect(call).toMatchObject({ revenue: 31.31, buyer: 'Secret Buyer', payout: null });
    expect(lead).toMatchObject({ revenue: 31.31, buyer_converted: true, offer_converted: null });
    expect(totals).toMatchObject({ calls: 1, payout: null, revenue: 31.31, profit: null });
  }
});

test('a user of a whole offer reads both sides, and not what the call costs the company', async () => {
  const user = await margin.user('offers', { offer_ids: [margin.ids.offers] });
  expect((await user.api('get', 'me')).body.me.visible_money).toEqual(['revenue', 'payout']);
  const [call] = (await user.api('get', 'calls')).body.calls;
  expect(call).toMatchObject({
    revenue: 31.31,
    payout: 7.77,
    service_cost: null,
    provider_cost: null,
  });
  const companyCall = (await margin.company('get', `calls/${margin.ids.calls}`)).body.call;
  expect(companyCall).toMatchObject({ service_cost: 4.44, provider_cost: 5.55 });
});

test('an explanation does not tell the source of a lead by a filter of an own buyer', async () => {
  const filter = `traffic_source_id: == ${margin.ids.traffic_sources}`;
  const body = { record_token_filter_list: [filter] };
  expect((await margin.company('put', `buyers/${margin.ids.buyers}`, { body })).status).toBe(200);
  const explain = async (api: Member['api']) => {
    const question = { offer_id: margin.ids.offers, caller_number: '+13105550188' };
    const res = await api('post', 'routing/explain', { body: question });
    return [res.status, res.body.decision.action];
  };
  // The offer of others too, of which such a team sees what its buyers paid for.
  const grants = { buyer_ids: [margin.ids.buyers], offer_ids: [margin.ids.offers] };
  const buyers = await margin.user('buyers', grants);
  expect(await explain(margin.company)).toEqual([200, 'dial']);
  expect(await explain(buyers.api)).toEqual([200, 'hang_up']);
});

const lists = reading.filter(({ parameters }) => parameters.some(({ name }) => name === 'root'));
const VALUES: Record<string, string> = { boolean: 'true' };
/** Each use of a hidden column as a parameter: the operation, the parameter and a value of it. */
const uses = lists.flatMap((operation) =>
  operation.parameters.flatMap((parameter) => {
    const { schema, name } = parameter;
    const plain = contract.resolve(schema);
    const sides: [string, MoneyVisibility][] = Object.entries(parameter['x-money-by'] ?? {});
    const [choice] = (plain.enum ?? []) as string[];
    const value = choice ?? VALUES[String(plain.type)] ?? '1';
    if (parameter['x-money']) sides.push([value, parameter['x-money']]);
    if (name === 'order')
      for (const order of (plain.enum ?? []) as string[]) {
        const column = order.replace(/^call_limits\./, '');
        const rows = [...collectSchemas(operation)].filter(
          (schemaName) => !/Page|Metadata/.test(schemaName),
        );
        const side = rows
          .map((schemaName) => schemas[schemaName]?.properties?.[column]?.['x-money'])
          .find((candidate) => candidate !== undefined);
        if (side) sides.push([order, side]);
      }
    const table = plain['x-reference'] as keyof typeof margin.ids | undefined;
    return sides.map(([used, side]) => ({ operation, name, value: used, side, table }));
  }),
);

test.each(KINDS)('a user of %s finds and sorts nothing by what is hidden', async (kind) => {
  const user = await margin.user(kind, USERS[kind].grants());
  const ownSide: MoneyVisibility = kind === 'sources' ? 'purchase' : 'sale';
  expect(uses.length).toBeGreaterThan(20);
  for (const { operation, name, side, table, ...use } of uses) {
    // A filter names a record that the user sees.
    const value = table ? margin.ids[table] : use.value;
    const { status, body } = await user.api('get', buildPath(operation), {
      query: { [name]: value },
    });
    // The record of the path is of the other side.
    if (operation.path.includes('{id}') && status === 404) continue;
    const what = [operation.id, name, value];
    if (side === ownSide) expect([...what, status]).toEqual([...what, 200]);
    else expect([...what, status, Object.keys(body.errors)]).toEqual([...what, 422, [name]]);
  }
});

describe('writes', () => {
  const WRITES = ['calls:update', 'calls:money', 'leads:update', 'buyers:update'];
  const write = async (user: Member) => [
    await user.api('post', `calls/${margin.call.id}`, { body: { data: { a: 1 } } }),
    await user.api('put', `leads/${margin.ids.leads}`, { body: { data: { b: 2 } } }),
    await user.api('put', `buyers/${margin.ids.buyers}`, { body: { name: 'Secret Buyer' } }),
    await user.api('post', 'routing/explain', { body: { offer_id: margin.ids.offers } }),
    await user.api('get', 'change_logs'),
  ];

  test.each(KINDS)('of a user of %s answer and log no more than reads', async (kind) => {
    const { grants, secrets } = USERS[kind];
    const user = await margin.user(kind, grants(), WRITES);
    const answers = await write(user);
    for (const { text, body } of answers) {
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
      expect(findHidden(body, selectHidden(kind))).toEqual([]);
    }
    expect(answers[0]!.status).toBe(200);
  });
});

test.each([
  ['buyers', { payout: 1 }, { revenue: 40 }],
  ['buyers', { add_payout: -100 }, { add_revenue: 1 }],
  ['buyers', { offer_converted: false }, { buyer_converted: false }],
  ['sources', { revenue: 1 }, { payout: 8 }],
  ['sources', { add_revenue: -100 }, { add_payout: 1 }],
  ['sources', { buyer_converted: false }, { offer_converted: false }],
] as const)(
  'a user of %s writes nothing of the other side: %j',
  async (kind, otherFields, ownFields) => {
    const user = await margin.user(kind, USERS[kind].grants(), ['calls:update', 'calls:money']);
    const send = (body: object) =>
      user.api('post', `calls/update_call/${margin.call.uuid}`, { body });
    const refused = await send(otherFields);
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([
      422,
      Object.keys(otherFields),
    ]);
    expect((await send(ownFields)).body.errors).toEqual({});
  },
);
