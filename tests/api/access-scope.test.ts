import { contract, type Operation } from '../../src/platform/contract/contract';
import { isRemoval } from '../../src/data/references';
import { buildVisibleCondition } from '../../src/data/access/scope';
import type { Table } from '../../src/data/records';
import { createFixture, type Fixture } from '../support/example';
import { findTable } from '../support/example-bodies';
import { createPartner, SCOPES } from '../support/partner';
import { listProperties, listReferences } from '../support/references';
import { createMember, type Member } from '../support/teams';
import { useWorld } from '../support/use-world';

// Derived from openapi.yaml: users who are limited to the records of teams send every operation.
// The records of the fixture are granted to no team.

const NOWHERE = '999999999';
const world = useWorld();
let fixture: Fixture;
let powerless: Member;
let reader: Member;
let partner: Member;

beforeAll(async () => {
  fixture = await createFixture(world);
  powerless = await createMember(world.company, 'powerless@example.com');
  reader = await createMember(world.company, 'reader@example.com', {
    permissions: SCOPES.filter((scope) => scope.endsWith(':read')),
  });
  ({ partner } = await createPartner(world));
});

const scoped = contract.operations.filter(
  ({ credentials, scope }) => credentials === 'account' && scope !== undefined,
);
const toNamedCases = (operations: Operation[]) =>
  operations.map((operation) => [operation.id, operation] as const);
const isLimited = (operation: Operation) =>
  buildVisibleCondition(findTable(operation) as Table) !== undefined;
const isList = ({ parameters, path }: Operation) =>
  parameters.some(({ name }) => name === 'root') && path.split('/').length === 4;
const bare = ({ type, title, detail, errors }: Record<string, unknown>, id: string) =>
  JSON.stringify([type, title, detail, errors]).replaceAll(id, NOWHERE);

test.each(toNamedCases(scoped))(
  '%s is refused to a user whose teams allow nothing',
  async (_, operation) => {
    const res = await fixture.send(operation, {}, powerless.api);
    expect([res.status, res.body.detail]).toEqual([403, expect.stringContaining(operation.scope!)]);
  },
);

test.each(toNamedCases(scoped.filter(({ scope }) => !scope!.endsWith(':read'))))(
  '%s is refused to a user who may only read',
  async (_, operation) => {
    expect((await fixture.send(operation, {}, reader.api)).status).toBe(403);
  },
);

test.each(toNamedCases(scoped.filter((operation) => operation.unlimited)))(
  '%s is refused to a user who is limited to records',
  async (_, operation) => {
    expect((await fixture.send(operation, {}, partner.api)).status).toBe(403);
  },
);

const lists = toNamedCases(
  scoped.filter(
    (operation) => operation.method === 'get' && isList(operation) && isLimited(operation),
  ),
);

test.each(lists)('%s has, counts and exports nothing that is not granted', async (_, operation) => {
  const plural = operation.path.split('/')[3]!;
  const root = plural === 'phone_numbers' ? 'numbers' : plural;
  const res = await reader.api('get', operation.path, { query: { per_page: 1000 } });
  const mine = res.body[root] as { type: string; id: number; user_id?: number; email?: string }[];
  // These lists have the caller's own token, team, user and entries.
  const privateOnes = new Set(['access_tokens', 'access_control_lists', 'users', 'change_logs']);
  expect([operation.id, mine.length, res.body.metadata.total_count]).toEqual([
    operation.id,
    privateOnes.has(plural) ? expect.any(Number) : 0,
    mine.length,
  ]);
  if (privateOnes.has(plural))
    expect(mine.some(({ id }) => id === fixture.ids[findTable(operation)])).toBe(false);
  if (operation.csv)
    expect((await reader.api('get', `${operation.path}.csv`)).text.trim().split('\n')).toHaveLength(
      1 + mine.length,
    );
});

const withId = toNamedCases(
  scoped.filter(
    (operation) =>
      /\{(id|uuid|user_buyer_id)\}/.test(operation.path) &&
      isLimited(operation) &&
      !operation.unlimited,
  ),
);

test.each(withId)(
  '%s answers a record that is not granted exactly as one that does not exist',
  async (_, operation) => {
    const byUserId = operation.path.includes('{user_buyer_id}');
    const id = byUserId ? 'not-granted' : String(fixture.ids[findTable(operation)]);
    if (byUserId)
      await world.sql(`UPDATE buyers SET user_buyer_id = 'not-granted' WHERE id = $1`, [
        fixture.ids.buyers,
      ]);
    const send = (name: string) =>
      partner.api(operation.method, operation.path.replace(/\{\w+\}/, name), {
        body: fixture.body(operation),
      });
    const [otherResponse, none] = [await send(id), await send(NOWHERE)];
    expect([otherResponse.status, none.status]).toEqual([404, 404]);
    expect(bare(otherResponse.body, id)).toBe(bare(none.body, NOWHERE));
  },
);

const references = scoped
  .filter(({ unlimited, path }) => !unlimited && !path.includes('{'))
  .flatMap(listReferences)
  .filter(({ target }) => buildVisibleCondition(target.split('.')[0] as Table) !== undefined);

const isReference = (operation: Operation, name: string) => {
  const schema = listProperties(operation)[name];
  return schema?.['x-reference'] !== undefined || schema?.['x-reference-by'] !== undefined;
};

test.each(
  references.map(
    (reference) =>
      [`${reference.operation.id}.${reference.field} (${reference.target})`, reference] as const,
  ),
)(
  '%s treats a record that is not granted exactly as one that does not exist',
  async (_, { operation, field, target, list, along }) => {
    const [table = '', key = 'id'] = target.split('.');
    if (key !== 'id')
      await world.sql(`UPDATE buyers SET user_buyer_id = 'not-granted' WHERE id = $1`, [
        fixture.ids.buyers,
      ]);
    const [id, nothing] =
      key === 'id' ? [fixture.ids[table]!, Number(NOWHERE)] : ['not-granted', NOWHERE];
    const plain = Object.entries(fixture.body(operation) ?? {}).filter(
      ([name]) => !isReference(operation, name) && !/^user_\w+_id$/.test(name),
    );
    const send = (value: string | number) =>
      fixture.send(
        operation,
        { body: { ...Object.fromEntries(plain), ...along, [field]: list ? [value] : value } },
        partner.api,
      );
    const [otherResponse, none] = [await send(id), await send(nothing)];
    if (isRemoval(field)) {
      // An absent record need not be removed. A list without buyers is still invisible.
      expect(otherResponse.status).toBe(none.status);
      expect(otherResponse.body.errors).not.toHaveProperty(field);
      return;
    }
    expect([otherResponse.status, none.status]).toEqual([422, 422]);
    expect(bare(otherResponse.body, String(id))).toBe(bare(none.body, NOWHERE));
  },
);
