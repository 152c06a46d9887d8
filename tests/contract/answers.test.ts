import { contract, type Operation } from '../../src/platform/contract/contract';
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

const selectOperations = (name: string) =>
  contract.operations
    .filter(({ parameters }) => parameters.some((parameter) => parameter.name === name))
    .map((operation) => [operation.id, operation] as const);

/** The reports and searches that need more than the path. */
const REQUIRED_QUERY: Record<string, Record<string, string>> = {
  reportGroupedCalls: { group_by: 'buyer' },
};
const buildQuery = ({ id }: Operation) => REQUIRED_QUERY[id] ?? {};

test.each(selectOperations('root'))(
  '%s answers the bare array with root=false',
  async (_, operation) => {
    const { body } = await fixture.send(operation, { query: buildQuery(operation) });
    const bare = await fixture.send(operation, {
      query: { ...buildQuery(operation), root: 'false' },
    });
    expect([bare.status, bare.type]).toEqual([200, 'application/json']);
    expect(bare.body).toEqual(body[body.metadata.root]);
  },
);

describe.each(selectOperations('format'))('%s answers CSV', (_, operation) => {
  const expectCsv = async (more: object) => {
    const res = await fixture.send(operation, more);
    expect([res.status, res.type]).toEqual([200, 'text/csv']);
    expect(res.headers['content-disposition']).toMatch(/^attachment; filename="?\w+\.csv"?$/);
    expect(res.text.split('\n')[0]).toMatch(/^[a-z_]+(,[a-z0-9_]+)*\r?$/);
  };
  test('for format=csv', () => expectCsv({ query: { ...buildQuery(operation), format: 'csv' } }));
  test('for the ending of the path', () =>
    expectCsv({ query: buildQuery(operation), path: `${fixture.path(operation)}.csv` }));
  test('for Accept', () =>
    expectCsv({ query: buildQuery(operation), headers: { Accept: 'text/csv' } }));
});

test('the contract declares what the values of these parameters change', () => {
  const declared = contract.operations.flatMap(({ parameters }) =>
    parameters.flatMap(({ name, 'x-answers': answers }) => (answers ? { name, answers } : [])),
  );
  expect(new Set(declared.map(({ name }) => name))).toEqual(new Set(['root', 'format']));
  expect(declared.length).toBe(selectOperations('root').length + selectOperations('format').length);
});
