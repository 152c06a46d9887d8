import request from 'supertest';
import { contract, type Operation } from '../../../src/platform/contract/contract';
import { expectNoHold } from '../../support/event-loop';
import { createFixture, type Fixture } from '../../support/example';
import { selectSample } from '../../support/repetitions';
import { worstRequests, type Shape } from '../../support/worst-requests';
import { useWorld } from '../../support/use-world';
import { basic, type Api } from '../../support/world';

// Derived from openapi.yaml: no operation holds the event loop for longer than 100 ms, whatever it
// is sent. `npm test` has a sample of the operations, `npm run test:long` all of them.

jest.setTimeout(900_000);

const world = useWorld();
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
});

/** Sends without looking at the answer: that is no part of what is measured. */
const raw: Api = async (method, path, options = {}) => {
  const query = new URLSearchParams(options.query as Record<string, string>).toString();
  const url = query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path;
  const req = request(world.app)
    [method](url)
    .set(options.headers ?? {});
  const auth = options.auth === undefined ? world.company.auth : options.auth;
  if (auth !== null) req.set('Authorization', basic(auth));
  if (options.body !== undefined) req.send(options.body as string);
  return req.ok(() => true);
};

const send = (operation: Operation, { body, query }: Shape) => {
  const path = fixture.path(operation);
  const json = typeof body === 'string' && { headers: { 'Content-Type': 'application/json' } };
  const pathWithQuery = query ? { path: `${path}?${query}` } : {};
  return fixture.send(operation, { ...pathWithQuery, ...json, body }, raw);
};

const sampled = selectSample(contract.operations, 9);

test.each(sampled.map((operation) => [operation.id, operation] as const))(
  '%s holds up nobody',
  async (_, operation) => {
    // The first request of an operation compiles its schemas.
    await fixture.send(operation, { query: { nonsense: '1' } }, raw);
    await send(operation, { name: 'small', ...(operation.body && { body: '{"nonsense":1}' }) });
    for (const shape of worstRequests(operation, fixture.body(operation))) {
      let status = 0;
      await expectNoHold(async () => {
        ({ status } = await send(operation, shape));
      }, shape.name);
      expect([shape.name, status, status < 500 || status === 503]).toEqual([
        shape.name,
        status,
        true,
      ]);
    }
  },
);
