import { readdirSync, readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import request from 'supertest';
import { contract, type Schemas } from '../../src/platform/contract/contract';
import { ERROR_CODES } from '../../src/platform/errors';
import { createWorld, type World } from '../support/world';
import { ajv } from '../support/worker/contract-check';

// Errors have codes. The contract declares them; the code that throws, the examples and the page
// have the same ones.

const ROOT = join(__dirname, '../..');
const { schemas, responses } = contract.document.components;
const CODES = schemas.ErrorCode!.enum as string[];

type Problem = Schemas['Problem'];

/** The examples of a problem in a response of the contract, by their names. */
const listExamples = (response: { content?: Record<string, unknown> }): [string, Problem][] => {
  const media = response.content?.['application/problem+json'] as
    { examples?: Record<string, { value: Problem }> } | undefined;
  return Object.entries(media?.examples ?? {}).map(([name, { value }]) => [name, value]);
};
const ofResponses = Object.values(responses).flatMap(listExamples);
const withoutOperation = (schemas.Problem as { examples: Problem[] }).examples;
const examples = [...ofResponses.map(([, example]) => example), ...withoutOperation];

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

test('every code has a status, a cause and a cure, and there are no others', () => {
  expect(Object.keys(ERROR_CODES)).toEqual(CODES);
  for (const [code, { status, cause, cure }] of Object.entries(ERROR_CODES)) {
    expect([code, STATUS_CODES[status]]).toEqual([code, expect.any(String)]);
    expect([code, cause, cure]).toEqual([code, expect.stringMatching(/\.$/), expect.any(String)]);
  }
});

test('every error response of every operation has examples, each of its own status', () => {
  const wrong = contract.operations.flatMap(({ id, responses: declaredResponses }) =>
    Object.entries(declaredResponses)
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, response]) => {
        const ownExamples = listExamples(contract.resolve(response));
        if (ownExamples.length === 0) return [`${id} ${status} has none`];
        return ownExamples
          .filter(([, { status: shown }]) => String(shown) !== status)
          .map(([name]) => `${id} ${status} shows ${name}`);
      }),
  );
  expect(wrong).toEqual([]);
});

test('every example of a problem validates, and is named by a code of its status', () => {
  const validate = ajv.getSchema('contract#/components/schemas/Problem')!;
  for (const [name, { code }] of ofResponses) expect(name).toBe(code);
  for (const example of examples) {
    const { code, status, title, type, detail, message, errors, error_codes } = example;
    expect([code, validate(example), validate.errors]).toEqual([code, true, null]);
    expect([code, status, title]).toEqual([
      code,
      ERROR_CODES[code]!.status,
      STATUS_CODES[ERROR_CODES[code]!.status],
    ]);
    expect([type, message]).toEqual([`/api/docs/errors#${code}`, detail]);
    const [field] = Object.keys(errors);
    expect(error_codes).toEqual(field === undefined ? {} : { [field]: [code] });
    if (field !== undefined) expect(detail).toBe(`${field} ${errors[field]![0]}`);
  }
});

test('every code has an example, and no code is of two statuses', () => {
  expect([...new Set(examples.map(({ code }) => code))].toSorted()).toEqual(CODES.toSorted());
});

test('every code is thrown somewhere', () => {
  const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
    .map((file) => readFileSync(join(ROOT, 'src', file), 'utf8'))
    .join('\n');
  expect(CODES.filter((code) => !source.includes(`'${code}'`))).toEqual([]);
});

const CHARACTERS: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

test('the type of an error opens a page of this server that explains its code', async () => {
  const { body } = await world.company.api('get', 'buyers/999999');
  const target = new URL(body.type, 'http://localhost/api/v1/buyers/999999');
  const page = await request(world.app).get(target.pathname);
  expect([page.status, page.type, target.hash]).toEqual([200, 'text/html', '#not_found']);
  const ids = [...page.text.matchAll(/<section id="(\w+)">/g)].map(([, id]) => id);
  expect(ids).toEqual(CODES);
  const [, index] = /<nav[^>]*>([\s\S]*)<\/nav>/.exec(page.text)!;
  const linked = [...index!.matchAll(/<a href="#(\w+)">/g)].map(([, code]) => code);
  expect(linked.toSorted()).toEqual(CODES.toSorted());
  const words = page.text
    .replace(/<\/?code>/g, '`')
    .replace(/&[\w#]+;/g, (entity) => CHARACTERS[entity] ?? entity);
  for (const [code, { status, cause, cure }] of Object.entries(ERROR_CODES)) {
    const [section] = new RegExp(`<section id="${code}">[\\s\\S]*?</section>`).exec(words)!;
    expect(section).toContain(`${status} ${STATUS_CODES[status]}`);
    expect(section).toContain(cause);
    expect(section).toContain(cure);
    const shown = JSON.parse(/<pre>([\s\S]*)<\/pre>/.exec(section!)![1]!);
    expect(shown).toEqual(examples.find((candidate) => candidate.code === code));
  }
  expect(page.text).not.toMatch(/(src|href)="https?:/);
});

test('a URL that cannot be decoded is a malformed request', async () => {
  const { status, body } = await world.company.api('put', 'buyers/%ff', { body: {} });
  expect([status, body.code]).toEqual([400, 'malformed_request']);
});

test('several wrong fields each have their codes; the first is the code of the whole', async () => {
  const { body } = await world.company.api('post', 'buyers', {
    body: { wieght: 1, timeout_seconds: 1, number: 'x', buyer_suppression_ids: [999] },
  });
  const names = (fields: object) =>
    Object.entries(fields).map(([name, messages]) => [name, (messages as string[]).length]);
  expect(names(body.error_codes)).toEqual(names(body.errors));
  expect(body.error_codes).toMatchObject({
    wieght: ['unknown_field'],
    timeout_seconds: ['invalid_value'],
  });
  const [first] = Object.entries(body.error_codes as Record<string, string[]>);
  expect([body.code, body.detail]).toEqual([
    first![1][0],
    `${first![0]} ${body.errors[first![0]][0]}`,
  ]);
});
