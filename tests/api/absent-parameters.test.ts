import type { Request, Response } from 'express';
import { contract, type Operation } from '../../src/platform/contract/contract';
import { HttpProblem } from '../../src/platform/errors';
import { useWorld } from '../support/use-world';
import { findReader } from '../support/worker/reader';

// The reader of an operation, and the schema that its validator checks by, are compiled at the first
// request. The verdict must not depend on whether a request is the first.

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
    const received = { req, res: {} as Response, lead_token: undefined, ignored: undefined };
    return { query: (await findReader(operation)(received)).query };
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return error.faults;
  }
}

test('each parameter is checked alike by the first request and by later ones', async () => {
  for (const operation of GETS) {
    const names = operation.parameters.flatMap(({ in: location, name }) =>
      location === 'query' ? name : [],
    );
    const queries = [{}, ...names.flatMap((name) => BAD.map((value) => ({ [name]: value })))];
    const findVerdicts = async (read: Operation, first: Record<string, unknown>) => {
      await findVerdict(read, first);
      return Promise.all(queries.map((query) => findVerdict(read, query)));
    };
    // Another object of the same operation is one that has no reader yet.
    const unseen = await findVerdicts({ ...operation }, queries.at(-1)!);
    const verdicts = await findVerdicts(operation, {});
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
