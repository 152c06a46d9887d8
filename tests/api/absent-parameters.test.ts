import type { Request, Response } from 'express';
import { contract, type Operation } from '../../src/platform/contract/contract';
import { problemFor } from '../../src/api/reply/error-handler';
import { useWorld } from '../support/use-world';
import { validate } from '../support/worker/validator';

// After the first request of an operation the validator gets only the parameters that a request
// has. Its verdict must not depend on whether the request is the first.

const world = useWorld();
const { api } = world;

const GETS = contract.operations.filter(({ method, body }) => method === 'get' && !body);
const BAD = ['x', 'a:b', '{"a":1}', '[1]'];

async function findVerdict(operation: Operation, query: Record<string, unknown>): Promise<unknown> {
  const text = new URLSearchParams(query as Record<string, string>).toString();
  const originalUrl = `${operation.path.replace(/\{\w+\}/g, '1')}${text && '?'}${text}`;
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const req = {
    method: 'GET',
    originalUrl,
    url: originalUrl,
    headers: {},
    query: { ...query },
    params: Object.fromEntries(names.map((name) => [name, '1'])),
  } as unknown as Request;
  try {
    await validate(operation, req, {} as Response);
    return { query: req.query };
  } catch (error) {
    return problemFor(error, { operation })?.faults;
  }
}

test('each parameter is checked alike by the first request and by later ones', async () => {
  for (const operation of GETS) {
    const names = operation.parameters.flatMap(({ in: location, name }) =>
      location === 'query' ? name : [],
    );
    const queries = [{}, ...names.flatMap((name) => BAD.map((value) => ({ [name]: value })))];
    // Another object of the same operation is one that the validator has not seen.
    const unseen = await Promise.all(queries.map((query) => findVerdict({ ...operation }, query)));
    await findVerdict(operation, {});
    const verdicts = await Promise.all(queries.map((query) => findVerdict(operation, query)));
    expect([operation.id, verdicts]).toEqual([operation.id, unseen]);
  }
});

test('a default of an absent parameter is set, and an unknown parameter is refused', async () => {
  for (let turn = 0; turn < 3; turn++) {
    const list = await api('get', 'buyers');
    expect(list.body.metadata).toMatchObject({ page: 1, per_page: 25 });
    const unknown = await api('get', 'buyers', { query: { shoe_size: 1 } });
    expect([unknown.status, Object.keys(unknown.body.errors)]).toEqual([422, ['shoe_size']]);
    const wrong = await api('get', 'buyers', { query: { per_page: 'many' } });
    expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([422, ['per_page']]);
  }
});
