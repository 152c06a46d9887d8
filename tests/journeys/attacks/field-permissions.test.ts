import {
  contract,
  facets,
  type Operation,
  type Schema,
} from '../../../src/platform/contract/contract';
import { COMPANY_WIDE } from '../../../src/api/auth/caller';
import { createFixture, type Fixture } from '../../support/example';
import { findTable } from '../../support/example-bodies';
import { markedFields } from '../../support/field-permissions';
import { SCOPES } from '../../support/partner';
import { listProperties } from '../../support/references';
import { createMember, type Member } from '../../support/teams';
import { useWorld } from '../../support/use-world';

// Derived from openapi.yaml: fields with x-field-permission are refused by name to callers without
// that permission, however they are sent.

const world = useWorld();
const { createRecord, createRecords, api, ok } = world;
let fixture: Fixture;
/** Records that the partner is granted, by table. */
let ownIds: Record<string, number>;
let leadToken: string;

beforeAll(async () => {
  fixture = await createFixture(world);
  ownIds = await createOwnRecords();
});

async function createOwnRecords(): Promise<Record<string, number>> {
  const { company } = world;
  const { buyers, schedules, buyer_groups, offers } = await createRecords({
    buyers: { buyers: { name: 'Mine' } },
    offers: { offers: { name: 'Mine' } },
    schedules: { schedules: { name: 'Mine', offer_id: 'offers' } },
    buyer_groups: { buyer_groups: { name: 'Mine', buyer_ids: ['buyers'] } },
  });
  const insert = async (table: string, columns: string, values: string, params: unknown[]) =>
    Number(
      (
        await world.sql<{ id: string }>(
          `INSERT INTO ${table} (company_id, uuid, ${columns})
          VALUES ($1, gen_random_uuid(), ${values}) RETURNING id`,
          [company.id, ...params],
        )
      )[0]!.id,
    );
  leadToken = (await ok('get', `offers/${offers}`)).offer.lead_token;
  return {
    buyers,
    offers,
    schedules,
    buyer_groups,
    numbers: await insert(
      'numbers',
      'phone_number, country, carrier, buyer_id, forward_type',
      `'13105550444', 'US', 'sandbox', $2, 'buyer_id'`,
      [buyers],
    ),
    calls: await insert(
      'calls',
      'direction, status, carrier, buyer_id, offer_id, buyer_converted, ended_at',
      `'inbound', 'completed', 'softswitch', $2, $3, true, now()`,
      [buyers, offers],
    ),
    leads: await insert(
      'leads',
      'caller_number, status, buyer_id, offer_id, buyer_converted, zones, is_live, entered_at',
      `13105550445, 'completed', $2, $3, true, '{UTC}', false, now()`,
      [buyers, offers],
    ),
  };
}

const partners = new Map<string, Promise<Member>>();
/** A user who may do everything with those records, but for one permission. */
const partnerWithout = (permission: string): Promise<Member> => {
  const existingPartner = partners.get(permission);
  if (existingPartner) return existingPartner;
  const newPartner = createMember(
    world.company,
    `no-${permission.replace(/\W/g, '-')}@example.com`,
    {
      permissions: SCOPES.filter((scope) => scope !== permission),
      buyer_ids: [ownIds.buyers],
      buyer_group_ids: [ownIds.buyer_groups],
      offer_ids: [ownIds.offers],
    },
  );
  partners.set(permission, newPartner);
  return newPartner;
};

/** A value that the contract allows. */
function buildValue(property: Schema): unknown {
  const { types, formats, items } = facets(property);
  const plain = contract.resolve(property);
  if (types.has('null')) return null;
  if (plain.enum) return plain.enum[0];
  if (types.has('boolean')) return true;
  if (types.has('array')) return items ? [] : null;
  if (types.has('number') || types.has('integer'))
    return Math.max(1, (plain as { minimum?: number }).minimum ?? 1);
  if (plain['x-reference']) return String(ownIds[plain['x-reference']]);
  if (formats.has('call-destination')) return '+13105550199';
  return formats.has('time-zone') ? 'UTC' : 'x';
}

const buildPath = ({ path }: Operation, table: string) =>
  path.replace(/\{(id|uuid)\}/, String(ownIds[table]));

/** The fields that the operation requires, without records that the partner does not see. */
function minimalBody(operation: Operation): Record<string, unknown> {
  const required = contract.resolve(operation.body!).required ?? [];
  const values: Record<string, unknown> = {
    offer_id: operation.id === 'captureLead' ? ownIds.offers : undefined,
    lead_token: operation.id === 'submitLead' ? leadToken : undefined,
    caller_id: /^(capture|submit)Lead$/.test(operation.id) ? '+13105550123' : undefined,
    name: required.includes('name') ? 'New' : undefined,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

const writing = contract.operations.filter(({ unlimited }) => !unlimited);
const cases = writing.flatMap((operation) =>
  markedFields(operation)
    .filter(({ lowerable, path }) => !lowerable && path.length === 1)
    .map((marked) => ({ operation, marked })),
);

test.each(
  cases.map(
    ({ operation, marked }) =>
      [`${operation.id}.${marked.path[0]}`, marked.permission, operation, marked] as const,
  ),
)('%s is refused by name without %s', async (_, permission, operation, { path: [field] }) => {
  const { api } = await partnerWithout(permission);
  const fields = {
    ...minimalBody(operation),
    [field!]: buildValue(listProperties(operation)[field!]!),
  };
  const request = operation.method === 'get' ? { query: fields } : { body: fields };
  const res = await api(operation.method, buildPath(operation, findTable(operation)), request);
  // A record that other teams use too is not changed at all without the same permission.
  if (permission === COMPANY_WIDE && operation.shared.includes('id'))
    return expect([res.status, res.body.code]).toEqual([403, 'access_limited']);
  expect([res.status, res.body.error_codes]).toEqual([422, { [field!]: ['beyond_your_rights'] }]);
  expect(res.body.detail).toContain(permission);
});

test('fields that need a permission are found in every operation that prices or routes', () => {
  expect([...new Set(cases.map(({ operation }) => operation.id as string))].toSorted()).toEqual([
    'captureLead',
    'createBuyer',
    'createBuyerGroup',
    'createOffer',
    'createPhoneNumber',
    'createSchedule',
    'submitLead',
    'updateBuyer',
    'updateBuyerGroup',
    'updateCall',
    'updateCallByUuid',
    'updateCallByUuidByGet',
    'updateCallByUuidByPut',
    'updateLead',
    'updateOffer',
    'updatePhoneNumber',
    'updateSchedule',
  ]);
  // Deeper fields are all limits, which are bounded.
  const deeper = writing.flatMap(markedFields).filter(({ path }) => path.length > 1);
  expect(deeper.filter(({ lowerable }) => !lowerable)).toEqual([]);
});

test('an operation without a scope has no field of a permission that a scope would name', () => {
  const open = contract.operations.filter(({ scope }) => scope === undefined);
  const fields = open.flatMap((operation) =>
    markedFields(operation).map((marked) => ({ operation: operation.id, ...marked })),
  );
  expect(fields.filter(({ permission }) => permission !== COMPANY_WIDE)).toEqual([]);
  expect(fields.map(({ operation, path }) => [operation, ...path])).toEqual([
    ['submitLead', 'unblock_contact'],
  ]);
});

/** Fields that everybody may write who may write the record. */
const FREE_FIELDS: Record<string, string[]> = {
  buyers: ['name', 'email', 'external_record_id', 'paused', 'business_hours_schedule'],
  buyer_groups: ['name', 'external_record_id', 'paused'],
  offers: ['name', 'description', 'external_record_id', 'lead_token_powers'],
  phone_numbers: [
    'name',
    'external_record_id',
    ...['requested_number', 'country', 'toll_free', 'prefix'], // fields of the purchase
  ],
  calls: [
    ...['post_call_tokens', 'data', 'hang_up', 'id', 'digits'],
    ...['adjustment_reason', 'description'],
    ...['disposition_key', 'disposition_notes', 'quality_assurance_name', 'agent_id'],
  ],
};
/** For superusers and key pairs alone: src/domain/people/change-teams.ts refuses them by name. */
const TEAM_FIELDS = [
  'generate_team',
  'team_users_emails',
  'team_offer_ids',
  'team_ids',
  'grant_team_offer_id',
  'revoke_team_offer_id',
];

test('a field of what is priced or routed is either free or needs a permission', () => {
  const unknown = writing.flatMap((operation) => {
    const free = FREE_FIELDS[operation.scope?.split(':')[0] ?? ''];
    if (!free || operation.scope!.endsWith(':read')) return [];
    const marked = new Set(markedFields(operation).map(({ path }) => path[0]));
    const freeFields = [...TEAM_FIELDS, ...free, 'serializer'];
    return Object.entries(listProperties(operation))
      .filter(
        ([field, schema]) =>
          !marked.has(field) && !schema['x-superuser'] && !freeFields.includes(field),
      )
      .map(([field]) => `${operation.id}.${field}`);
  });
  expect(unknown).toEqual([]);
});

const spellings: [string, (fields: Record<string, string>) => object][] = [
  ['a form', (fields) => ({ form_body: new URLSearchParams(fields).toString() })],
  ['text', (fields) => ({ body: fields })],
  [
    'blank values',
    (fields) => ({ body: Object.fromEntries(Object.keys(fields).map((name) => [name, null])) }),
  ],
];

test.each(spellings)('a price sent as %s is refused too', async (_, spell) => {
  const { api } = await partnerWithout('buyers:money');
  const { form_body, ...options } = spell({ buyer_conversions_schedule: '' }) as {
    form_body?: string;
  };
  const res = await api('put', `buyers/${ownIds.buyers}`, {
    ...options,
    ...(form_body && {
      body: form_body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    }),
  });
  expect(res.body.error_codes).toEqual({ buyer_conversions_schedule: ['beyond_your_rights'] });
});

test('a permission counts for the records of the team that gives it', async () => {
  const otherBuyer = await createRecord('buyers', { name: 'Priced' });
  const user = await createMember(world.company, 'two-teams@example.com', {
    permissions: ['buyers:read', 'buyers:update'],
    buyer_ids: [ownIds.buyers],
  });
  await api('post', 'access_control_lists', {
    body: {
      name: 'Pricing',
      users_emails: [user.email],
      permissions: ['buyers:read', 'buyers:update', 'buyers:money'],
      buyer_ids: [otherBuyer.id],
    },
  });
  const price = (id: number) =>
    user.api('put', `buyers/${id}`, {
      body: { current_conversion_revenue: 9, current_conversion_duration: 60 },
    });
  expect([(await price(ownIds.buyers!)).status, (await price(otherBuyer.id)).status]).toEqual([
    422, 200,
  ]);
});

test('key pairs with all permissions, and superusers, write every field', async () => {
  const auth = await world.credentials(world.company, SCOPES);
  const update = contract.operations.find(({ id }) => id === 'updateBuyer')!;
  for (const by of [auth, world.company.auth])
    expect((await fixture.send(update, { auth: by })).status).toBe(200);
  const paid = { current_conversion_revenue: 3, current_conversion_duration: 60 };
  const priced = { name: 'All', number: '+13105550199', ...paid, tier: 2 };
  const created = await api('post', 'buyers', { auth, body: priced });
  expect(created.status).toBe(201);
});
