import { contract, facets } from '../../src/platform/contract/contract';
import { isRemoval } from '../../src/data/references';
import { createFixture, type Fixture } from '../support/example';
import { buildAudio, findTable } from '../support/example-bodies';
import { listProperties, listReferences } from '../support/references';
import { useWorld } from '../support/use-world';
import type { Company } from '../support/world';

// Derived from openapi.yaml: every id that an operation takes, in the path, in `ids` and in the
// body, is tried with the id of another company's record.

const NOWHERE = {
  id: '999999999',
  uuid: '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001',
  user_buyer_id: 'unknown',
};
const world = useWorld();
const { api } = world;
let theirs: Company;
let fixture: Fixture;
let mine: Fixture;

beforeAll(async () => {
  theirs = await world.addCompany('Theirs');
  fixture = await createFixture(world, theirs);
  mine = await createFixture(world);
});

/** A problem without what is different in each request. */
const bare = (body: Record<string, unknown>, secret: string, nothing: string) =>
  JSON.stringify({ ...body, instance: '', request_id: '' }).replaceAll(secret, nothing);

const loadUuid = async (table: string, id: number) =>
  (await world.sql<{ uuid: string }>(`SELECT uuid FROM ${table} WHERE id = $1`, [id]))[0]!.uuid;

const withId = contract.operations
  .filter(({ path }) => path.includes('{id}') || path.includes('{user_buyer_id}'))
  .map((operation) => [operation.id, operation] as const);

test.each(withId)(
  "%s responds to another company's record exactly as to one that does not exist",
  async (_, operation) => {
    const plural = findTable(operation);
    const id = fixture.ids[plural]!;
    const byUserId = operation.path.includes('{user_buyer_id}');
    const foreign = byUserId ? ['only-theirs'] : [String(id), await loadUuid(plural, id)];
    if (byUserId)
      await world.sql("UPDATE buyers SET user_buyer_id = 'only-theirs' WHERE id = $1", [id]);
    for (const reference of foreign) {
      const send = (name: string) =>
        api(operation.method, operation.path.replace(/\{\w+\}/, name), {
          body: mine.body(operation),
          ...buildAudio(operation),
        });
      const [otherResponse, none] = [await send(reference), await send(NOWHERE.id)];
      expect([otherResponse.status, none.status]).toEqual([404, 404]);
      expect(bare(otherResponse.body, reference, NOWHERE.id)).toBe(
        bare(none.body, reference, NOWHERE.id),
      );
    }
  },
);

const lists = contract.operations
  .filter(({ parameters }) => parameters.some(({ name }) => name === 'ids'))
  .map((operation) => [operation.id, operation] as const);

test.each(lists)(
  '%s finds nothing of another company by ids, and counts nothing',
  async (_, operation) => {
    const plural = findTable(operation);
    const id = fixture.ids[plural]!;
    const res = await api('get', operation.path, {
      query: { ids: `${id},${await loadUuid(plural, id)}` },
    });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['ids']]);
    const ownResponse = await api('get', operation.path, {
      query: { ids: `${mine.ids[plural]},${id}` },
    });
    const { root, total_count } = ownResponse.body.metadata;
    expect([ownResponse.body[root].length, total_count]).toEqual([1, 1]);
  },
);

const references = contract.operations.flatMap(listReferences);

/** Identifiers that the customer gives, telephone numbers, and what only looks like an id. */
const NOT_REFERENCES = new RegExp(
  '^(user_(buyer|fleet|offer|call_center|schedule|traffic_source)_id|external_record_id|' +
    'legacy_id|caller_ids?|caller_number|phone|sub_id|boot_id|success_codes)$',
);

test('every field of a body that can have an id declares what it references', () => {
  const unmarked = contract.operations.flatMap((operation) =>
    Object.entries(listProperties(operation)).flatMap(([field, schema]) => {
      const { types, items } = facets(schema);
      const holdsId =
        (types.has('string') && types.has('integer')) ||
        (items && facets(items).types.has('integer')) ||
        /(^|_)ids?$/.test(field);
      return holdsId &&
        !NOT_REFERENCES.test(field) &&
        !schema['x-reference'] &&
        !schema['x-reference-by']
        ? [`${operation.id}.${field}`]
        : [];
    }),
  );
  expect(unmarked).toEqual([]);
  expect(references.length).toBeGreaterThan(10);
});

test.each(
  references.map(
    (reference) =>
      [`${reference.operation.id}.${reference.field} (${reference.target})`, reference] as const,
  ),
)(
  "%s treats another company's record exactly as one that does not exist",
  async (_, { operation, field, target, list, along }) => {
    const [table = '', key = 'id'] = target.split('.');
    const id = fixture.ids[table]!;
    await world.sql("UPDATE buyers SET user_buyer_id = 'only-theirs' WHERE company_id = $1", [
      theirs.id,
    ]);
    const foreign = key === 'id' ? [id, await loadUuid(table, id)] : ['only-theirs'];
    const nothing = key === 'id' ? NOWHERE.id : NOWHERE.user_buyer_id;
    // Unique values are taken already, by the record of the fixture.
    const body = Object.fromEntries(
      Object.entries(mine.body(operation) ?? {}).filter(([name]) => !/^user_\w+_id$/.test(name)),
    );
    for (const reference of foreign) {
      const send = (name: string | number) =>
        mine.send(operation, { body: { ...body, ...along, [field]: list ? [name] : name } });
      const [otherResponse, none] = [await send(reference), await send(nothing)];
      if (operation.lenient && !operation.lenient.has(field)) {
        // It is taken without the record, with the same warning.
        expect([otherResponse.status < 300, none.status < 300]).toEqual([true, true]);
        expect(bare(otherResponse.body.warnings, String(reference), nothing)).toBe(
          bare(none.body.warnings, String(reference), nothing),
        );
        expect(Object.keys(otherResponse.body.warnings)).toEqual([field]);
        continue;
      }
      // An absent record need not be removed.
      const status = isRemoval(field) ? operation.status : 422;
      expect([otherResponse.status, none.status]).toEqual([status, status]);
      if (isRemoval(field)) continue;
      expect(Object.keys(otherResponse.body.errors)).toEqual([field]);
      expect(bare(otherResponse.body, String(reference), nothing)).toBe(
        bare(none.body, String(reference), nothing),
      );
    }
  },
);

test('lists, counts and CSV have only records of the company', async () => {
  for (const plural of ['buyers', 'buyer_groups', 'buyer_fleets']) {
    const page = await api('get', plural);
    expect(
      page.body[plural].every(
        ({ company_id }: { company_id: number }) => company_id === Number(world.company.id),
      ),
    ).toBe(true);
    const csv = await api('get', `${plural}.csv`, {
      query: { columns: 'company_id' },
    });
    expect(new Set(csv.text.trim().split('\n').slice(1))).toEqual(
      new Set([String(world.company.id)]),
    );
  }
});
