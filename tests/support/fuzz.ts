import fc from 'fast-check';
import { facets, type Operation } from '../../src/platform/contract/contract';
import { allowedBy, junk, junkText } from './schema-values';
import type { Fixture } from './example';

/** One request: what replaces the parts of the contract's example. */
interface Draft {
  /** In place of the path's first parameter. */
  id: string | undefined;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: unknown;
}

const mixOdd = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, weight = 4): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight }, { arbitrary: odd, weight: 1 });

/** Some of the names with values; sometimes a name that does not exist. */
const pickSome = <T>(
  values: Record<string, fc.Arbitrary<T>>,
  odd: fc.Arbitrary<T>,
): fc.Arbitrary<Record<string, T>> => {
  const names = [...Object.keys(values), 'nonsense', 'constructor'];
  const weights = names.map((name) => ({
    arbitrary: fc.constant(name),
    weight: name in values && Object.hasOwn(values, name) ? 20 : 1,
  }));
  return fc
    .uniqueArray(fc.oneof(...weights), { maxLength: 4 })
    .chain((chosen) =>
      fc.record(
        Object.fromEntries(
          chosen.map((name) => [
            name,
            Object.hasOwn(values, name) ? mixOdd(values[name]!, odd, 2) : odd,
          ]),
        ),
      ),
    );
};

const HEADERS: Record<string, fc.Arbitrary<string>> = {
  'If-Match': fc.constantFrom('*', '"x"', '"00000000000000000000000000000000"', 'W/"a"'),
  'If-None-Match': fc.constantFrom('*', '"x"', '', 'W/"a", "b"'),
  'Idempotency-Key': fc.stringMatching(/^[a-z]{1,12}$/),
  Accept: fc.constantFrom('*/*', 'text/csv', 'application/json', 'image/png', ';'),
  'X-Request-Id': fc.stringMatching(/^[ -~]{0,30}$/),
  'X-Forwarded-For': fc.stringMatching(/^[0-9.,: ]{0,30}$/),
  Range: fc.constantFrom('bytes=0-1', 'bytes=5-1', 'x'),
};

/** Parameters that make an answer wait. */
const WAITS = new Set(['wait_seconds']);

/** Requests of an operation: what its schemas allow, and at every place also what they do not. */
export function buildRequests({ parameters, body, path }: Operation): fc.Arbitrary<Draft> {
  const query = Object.fromEntries(
    parameters
      .filter((parameter) => parameter.in === 'query' && !WAITS.has(parameter.name))
      .map(({ name, schema }) => [name, allowedBy(schema).map(asText)]),
  );
  const fields = body ? facets(body).properties : {};
  const partly = pickSome(
    Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, allowedBy(schema)])),
    junk,
  );
  return fc.record({
    id: path.includes('{')
      ? mixOdd(
          fc.constant(undefined),
          junkText.map((text) => text || '0'),
        )
      : fc.constant(undefined),
    query: pickSome(query, junkText),
    headers: mixOdd(fc.constant({}), pickSome(HEADERS, fc.stringMatching(/^[ -~]{0,20}$/))),
    body: body ? fc.oneof(partly, allowedBy(body), mixOdd(partly, junk)) : fc.constant(undefined),
  });
}

const asText = (value: unknown): string =>
  typeof value === 'string' && value.isWellFormed() ? value : (JSON.stringify(value) ?? '');

const isForm = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Array.isArray(body);

/** Sends it; a number or text in place of a body is sent as JSON too. */
export function sendDraft(fixture: Fixture, operation: Operation, draft: Draft) {
  const { id, query, headers, body } = draft;
  const path =
    id === undefined
      ? {}
      : {
          path: operation.path.replace(/\{\w+\}/, encodeURIComponent(id)).replace(/\{\w+\}/g, '1'),
        };
  const isJson = operation.body && operation.media_types.includes('application/json');
  const text = typeof body === 'object' || body === undefined ? body : JSON.stringify(body);
  return fixture.send(operation, {
    ...path,
    query,
    headers: { ...headers, ...(isJson && { 'Content-Type': 'application/json' }) },
    body: (isJson || isForm(body) ? text : undefined) as object | undefined,
  });
}
