import fc from 'fast-check';
import { contract, facets, type Operation } from '../../src/contract';
import { createFixture, type Fixture } from '../support/example';
import { repetitions } from '../support/repetitions';
import { createWorld, type World } from '../support/world';

jest.setTimeout(600_000);

// Derived from openapi.yaml: any value in any parameter or field of any operation gets a response,
// and never an internal error.

let world: World;
let fixture: Fixture;
beforeAll(async () => {
  world = await createWorld();
  fixture = await createFixture(world);
});
afterAll(() => world.close());

const NASTY = [
  '',
  ' ',
  '0',
  '-1',
  '1e308',
  '9'.repeat(30),
  'NaN',
  'null',
  'true',
  "'; DROP TABLE buyers; --",
  '%',
  '\\',
  '{}',
  '{1}',
  '[]',
  '\u0000',
  '\ud800',
  '🙂',
  '../..',
  'a:b',
  'a:=~(a+)+$',
  '2026-02-30',
  '00:00..24:00',
  '+1',
  'sip:',
  'UTC\n',
  '__proto__',
];
const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...NASTY),
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    1.005,
    1e15,
    1e300,
    2 ** 53,
    [],
    {},
    [[]],
    [null],
    [{}],
    { a: 1 },
    ['', 'x'],
    {
      day: 1,
      times: ['09:00..10:00'],
    },
  ),
  fc.string({ maxLength: 40 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue({ maxDepth: 4 }),
);

function requests({ parameters, body }: Operation) {
  const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const fields = body ? Object.keys(facets(body).properties) : [];
  const some = (keys: string[], value: fc.Arbitrary<unknown>) =>
    fc
      .uniqueArray(
        keys.length
          ? fc.oneof(
              { arbitrary: fc.constantFrom(...keys), weight: 20 },
              { arbitrary: fc.constantFrom('nonsense', 'constructor'), weight: 1 },
            )
          : fc.constant('nonsense'),
        { maxLength: 4 },
      )
      .chain((chosen) =>
        fc
          .tuple(...chosen.map(() => value))
          .map((values) => Object.fromEntries(chosen.map((key, n) => [key, values[n]]))),
      );
  return fc.record({
    query: some(
      names,
      fc.oneof(
        fc.constantFrom(...NASTY.filter((text) => text.isWellFormed())),
        fc.string({ maxLength: 20 }),
      ),
    ),
    body: some(fields, junk),
  });
}

const runsOf = ({ body }: Operation): number => (body ? repetitions(20, 60) : repetitions(8, 25));

test.each(
  contract.operations
    .filter(({ method }) => method !== 'delete')
    .map((operation) => [operation.id, operation] as const),
)('%s', async (_, operation) => {
  await fc.assert(
    fc.asyncProperty(requests(operation), async ({ query, body }) => {
      const res = await fixture.send(operation, {
        query: query as Record<string, string>,
        body: operation.body ? body : undefined,
      });
      expect([200, 201, 202, 400, 401, 403, 404, 422]).toContain(res.status);
      if (res.status === 422) expect(Object.keys(res.body.errors).length).toBeGreaterThan(0);
    }),
    { numRuns: runsOf(operation) * Number(process.env.FUZZ_TIMES ?? 1) },
  );
});
