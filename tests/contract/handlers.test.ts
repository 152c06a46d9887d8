import { COMPANY_WIDE } from '../../src/api/auth/caller';
import { markedFields } from '../support/field-permissions';
import { createHandlers, requireDistinct } from '../../src/main/handlers';
import { bind } from '../../src/api/bind';
import type { Handler, Handlers } from '../../src/api/handlers';
import { Json } from '../../src/api/reply/reply';
import { contract } from '../../src/platform/contract/contract';
import { createWorld, type World } from '../support/world';

// The types are checked by tsc: if a line below was no longer an error, `npm run types` would fail.

let world: World;
let handlers: Handlers;
beforeAll(async () => {
  world = await createWorld();
  handlers = createHandlers(world.deps);
});
afterAll(() => world.close());

test('a missing handler does not compile, and does not start', () => {
  const { showMe, ...rest } = handlers;
  void showMe;
  // @ts-expect-error showMe is missing
  const incomplete: Handlers = rest;
  expect(() => bind(incomplete, {} as never)).toThrow('no handler for operation showMe');
});

test('a mistyped handler does not compile', () => {
  // @ts-expect-error the reply of showMe is not a list of buyers
  const wrongAnswer: Handler<'showMe'> = async () => new Json<{ buyers: string[] }>('{}');
  // @ts-expect-error shoe_size is not a parameter of listBuyers
  const wrongQuery: Handler<'listBuyers'> = async ({ query }) => new Json(String(query.shoe_size));
  const wrongBody: Handler<'createBuyer'> = async ({ body }) =>
    // @ts-expect-error tier is a number
    new Json((body.tier ?? 0).toUpperCase());
  expect([wrongAnswer, wrongQuery, wrongBody]).toHaveLength(3);
});

test('a handler without an operation, or two of one name, do not start', () => {
  expect(() => bind({ ...handlers, dance: async () => undefined } as never, {} as never)).toThrow(
    'dance has no operation',
  );
  expect(() => requireDistinct([{ showMe: 1 }, { showMe: 2 }])).toThrow(
    'two handlers are called showMe',
  );
});

test('credentials can have every scope of an operation, and no scope is unused', () => {
  const scopes = contract.document.components.schemas.Scope!.enum as string[];
  const used = new Set(
    contract.operations
      .flatMap((operation) => [
        operation.scope ?? [],
        operation.company_wide ? COMPANY_WIDE : [],
        markedFields(operation).map(({ permission }) => permission),
      ])
      .flat(2),
  );
  expect([...used].filter((scope) => !scopes.includes(scope))).toEqual([]);
  expect(scopes.filter((scope) => !used.has(scope))).toEqual([]);
  expect(
    contract.operations
      .filter(({ scope, credentials }) => !scope && credentials === 'account')
      .map(({ id }) => id),
  ).toEqual(['showMe', 'streamEvents', 'listCollections', 'listTimeZones', 'showCollection']);
});
