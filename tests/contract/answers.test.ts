import { contract, type Operation } from '../../src/contract';
import { createFixture, type Fixture } from '../support/example';
import { createWorld, type World } from '../support/world';

// Derived from openapi.yaml: a list is answered as a bare array with root=false, and as CSV where
// it takes `format`. The contract declares both in x-answers.

let world: World;
let fixture: Fixture;
beforeAll(async () => {
  world = await createWorld();
  fixture = await createFixture(world);
});
afterAll(() => world.close());

const taking = (name: string) =>
  contract.operations
    .filter(({ parameters }) => parameters.some((parameter) => parameter.name === name))
    .map((operation) => [operation.id, operation] as const);

/** The reports and searches that need more than the path. */
const NEEDED: Record<string, Record<string, string>> = {
  reportGroupedCalls: { group_by: 'buyer' },
};
const queryOf = ({ id }: Operation) => NEEDED[id] ?? {};

test.each(taking('root'))('%s answers the bare array with root=false', async (_, operation) => {
  const { body } = await fixture.send(operation, { query: queryOf(operation) });
  const bare = await fixture.send(operation, { query: { ...queryOf(operation), root: 'false' } });
  expect([bare.status, bare.type]).toEqual([200, 'application/json']);
  expect(bare.body).toEqual(body[body.metadata.root]);
});

describe.each(taking('format'))('%s answers CSV', (_, operation) => {
  const expectCsv = async (more: object) => {
    const res = await fixture.send(operation, more);
    expect([res.status, res.type]).toEqual([200, 'text/csv']);
    expect(res.headers['content-disposition']).toMatch(/^attachment; filename="?\w+\.csv"?$/);
    expect(res.text.split('\n')[0]).toMatch(/^[a-z_]+(,[a-z0-9_]+)*\r?$/);
  };
  test('for format=csv', () => expectCsv({ query: { ...queryOf(operation), format: 'csv' } }));
  test('for the ending of the path', () =>
    expectCsv({ query: queryOf(operation), path: `${fixture.path(operation)}.csv` }));
  test('for Accept', () =>
    expectCsv({ query: queryOf(operation), headers: { Accept: 'text/csv' } }));
});

test('the contract declares what the values of these parameters change', () => {
  const declared = contract.operations.flatMap(({ parameters }) =>
    parameters.flatMap(({ name, 'x-answers': answers }) => (answers ? { name, answers } : [])),
  );
  expect(new Set(declared.map(({ name }) => name))).toEqual(new Set(['root', 'format']));
  expect(declared.length).toBe(taking('root').length + taking('format').length);
});
