import type { Request, Response } from 'express';
import {
  contract,
  facets,
  type Operation,
  type Schema,
} from '../../../src/platform/contract/contract';
import { HttpProblem } from '../../../src/platform/errors';
import { findReader } from '../../support/worker/reader';

// The reader knows spellings, types and maximum lengths. Values are checked by
// express-openapi-validator alone: each rule of the contract must still refuse a request.

interface Parts {
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
}

const createRequest = (operation: Operation, { query = {}, body, headers }: Parts) =>
  ({
    originalUrl: operation.path.replace(/\{\w+\}/g, '1'),
    headers: headers ?? { 'content-type': operation.media_types[0] ?? 'application/json' },
    query,
    params: Object.fromEntries(
      [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, '1']),
    ),
    body: body ?? (operation.body ? {} : undefined),
  }) as unknown as Request;

async function findFaults(operation: Operation, parts: Parts): Promise<string[]> {
  const req = createRequest(operation, parts);
  const received = { req, res: {} as Response, lead_token: undefined, ignored: undefined };
  try {
    await findReader(operation)(received);
    return [];
  } catch (error) {
    if (error instanceof HttpProblem) return Object.keys(error.faults);
    throw error;
  }
}

/** A value of the right type that a schema refuses. */
function listWrongValues(stated: Schema): unknown[] {
  const {
    minimum,
    maximum,
    enum: words,
  } = contract.resolve(stated) as Schema & {
    maximum?: number;
  };
  return [
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(words ? ['no such word'] : []),
  ];
}

const wrongFields = contract.operations.flatMap((operation) => [
  ...operation.parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, schema }) =>
      listWrongValues(schema).map((value) => [operation, name, { query: { [name]: `${value}` } }]),
    ),
  ...Object.entries(operation.body ? facets(operation.body).properties : {}).flatMap(
    ([name, schema]) =>
      listWrongValues(schema).map((value) => [operation, name, { body: { [name]: value } }]),
  ),
]) as [Operation, string, Parts][];

test('a value that the contract does not allow is refused, wherever it is', async () => {
  expect(wrongFields.length).toBeGreaterThan(500);
  const accepted: string[] = [];
  for (const [operation, name, request] of wrongFields)
    if (!(await findFaults(operation, request)).includes(name))
      accepted.push(`${operation.id} ${JSON.stringify(request)}`);
  expect(accepted).toEqual([]);
});

const required = contract.operations.flatMap((operation) => {
  const { required: names = [] } = operation.body ? contract.resolve(operation.body) : {};
  return names.map((name) => [operation, name] as const);
});

test('a body without a field that is required is refused', async () => {
  expect(required.length).toBeGreaterThan(50);
  for (const [operation, name] of required)
    expect([operation.id, await findFaults(operation, { body: {} })]).toEqual([
      operation.id,
      expect.arrayContaining([name]),
    ]);
});

test('a request keeps its headers, and parameters of its media type do not matter', async () => {
  const operation = contract.operations.find(({ id }) => id === 'createBuyer')!;
  const headers = { 'content-type': 'application/json; charset=utf-8; x=1', 'x-other': 'y' };
  expect(await findFaults(operation, { body: { name: 'B' }, headers })).toEqual([]);
  expect(headers).toEqual({
    'content-type': 'application/json; charset=utf-8; x=1',
    'x-other': 'y',
  });
});
