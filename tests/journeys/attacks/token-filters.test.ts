import fc from 'fast-check';
import { RE2JS } from 're2js';
import {
  contract,
  facets,
  type Operation,
  type Schema,
} from '../../../src/platform/contract/contract';
import { compileFilter, parseFilter } from '../../../src/platform/tokens/filters';
import { isAllowedPattern } from '../../../src/platform/tokens/patterns';
import { ownTokens } from '../../../src/platform/tokens/substitute';
import { cpuMs } from '../../support/patience';
import { useWorld } from '../../support/use-world';

// Regular expressions that customers write hold neither the process that saves them nor the one
// that routes a call.

const world = useWorld();
const { create, api } = world;

/** Patterns that are slow to compile, or whose program is large. */
const LARGE = [
  '.{0,1000}'.repeat(50),
  '.{0,257}',
  '(((a{10}){10}){10})',
  `(?:${'abcdefgh'.repeat(20)}){2}`,
  'a{50}{50}',
  `(${'a'.repeat(50)}[)]b){5}`,
  `\\Qabc\\E{300}`,
  '\\pL'.repeat(300),
  `[${'\\pL'.repeat(300)}]`,
  `(?i)${'[!-\u{1e943}]'.repeat(20)}`,
  `(?i)${'[\\x{21}-\\x{ffff}]'.repeat(20)}`,
  `(?s-m:(?i)${'[!-\u9fff]'.repeat(20)})`,
];

/** The largest that are allowed, which match no text of letters. */
const WORST = ['.{0,90}[^a]', '(?:.*a){60}[^a]', '(a?){45}[^a]', '(?:.?.?){30}[^a]'];

/** The fields of an operation's body that are lists of filters. */
const listFilterFields = ({ body }: Operation): string[] =>
  Object.entries(body ? facets(body).properties : {}).flatMap(([name, schema]) =>
    isFilter(facets(contract.resolve(schema)).items) ? name : [],
  );
const isFilter = (items?: Schema): boolean =>
  items !== undefined && facets(contract.resolve(items)).formats.has('token-filter');

const saving = contract.operations.filter((operation) => listFilterFields(operation).length > 0);

test('the contract has operations that save filters', () =>
  expect(saving.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['createBuyer', 'createOutgoingWebhook', 'createScheduleAction']),
  ));

test.each(saving.map((operation): [string, Operation] => [operation.id, operation]))(
  '%s refuses large patterns, and says what is allowed',
  async (_, operation) => {
    const [field] = listFilterFields(operation);
    const path = operation.path.replace(/\{\w+\}/g, '1');
    for (const pattern of LARGE) {
      const body = { [field!]: [`word:=~${pattern}`] };
      const res = await api(operation.method as 'post', path, { body });
      expect([pattern.slice(0, 30), res.status]).toEqual([pattern.slice(0, 30), 422]);
      expect(res.body.errors[`${field}.0`]).toEqual([
        expect.stringMatching(/RE2 syntax of at most 256 instructions/),
      ]);
    }
  },
);

test('what people write is allowed', () => {
  const allowed = [
    '^902',
    '(?i)old',
    '^(a+)+$',
    "(?i)^[a-zà-ÿ '-]{2,40}$",
    '^\\+?1?[-. ]?\\(?\\d{3}\\)?[-. ]?\\d{3}[-. ]?\\d{4}$',
    '^[\\p{L}\\p{M} .-]+$',
    '^[\\w.+-]+@[\\w-]+\\.[a-z]{2,10}$',
    `^(${Array.from({ length: 50 }, (_, n) => 201 + n * 13).join('|')})`,
    '\\Qa{1000}\\E',
    '[{100}]{10}',
  ];
  expect(allowed.filter((pattern) => parseFilter(`word:=~${pattern}`) === undefined)).toEqual([]);
});

test('whatever is allowed compiles to at most 256 instructions', () => {
  const part = fc.oneof(
    fc.constantFrom('(', ')', '(?:', '(?i)', '[', ']', '[^', '[:alpha:]', '\\Q', '\\E', '|', '\\]'),
    fc.constantFrom('{2}', '{0,7}', '{90,}', '{1000}', '*', '+', '?', '\\pL', '\\x{41}', '-', '^'),
    fc.constantFrom('a', '.', '[)]', '[(]', '[]a]', '[!-\u9fff]', '{', '}', '\\{'),
  );
  const patterns = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(''));
  let allowed = 0;
  fc.assert(
    fc.property(patterns, (pattern) => {
      if (!isAllowedPattern(pattern)) return;
      allowed++;
      expect(RE2JS.compile(pattern).programSize()).toBeLessThanOrEqual(256);
    }),
    { numRuns: 3_000 },
  );
  expect(allowed).toBeGreaterThan(100);
});

const long = 'a'.repeat(1_000_000);

/** How many patterns a decision evaluates until its steps are used up. */
function countEvaluations(pattern: string, value: string): number {
  const tokens = ownTokens({ word: value });
  const holds = compileFilter(`word:=~(?:${pattern})?`)!;
  for (let n = 0; n < 1_000_000; n++) if (!holds(tokens)) return n;
  return Infinity;
}

test('a decision evaluates few of the worst patterns, and as many small ones as buyers have', () => {
  for (const pattern of WORST) {
    expect(isAllowedPattern(pattern)).toBe(true);
    expect(countEvaluations(pattern, long)).toBeLessThan(60);
  }
  // 5,000 buyers with ten such filters each.
  expect(countEvaluations('^902', '90210')).toBeGreaterThan(50_000);
});

test('a decision takes about the same time however many of the worst patterns it has', () => {
  const decide = (patterns: number) => {
    const tokens = ownTokens({ word: long });
    for (let n = 0; n < patterns; n++) compileFilter(`word:=~${WORST[n % 4]}${n}?`)!(tokens);
  };
  decide(10);
  const few = cpuMs(() => decide(25));
  expect(cpuMs(() => decide(10_000))).toBeLessThan(20 * few + 200);
});

test('a value is matched up to its thousandth character', () => {
  const holds = compileFilter('word:=~b')!;
  expect(holds(ownTokens({ word: `${'a'.repeat(999)}b` }))).toBe(true);
  expect(holds(ownTokens({ word: `${'a'.repeat(1_000)}b` }))).toBe(false);
});

test('a call is routed past a buyer whose filters would take long, to one without', async () => {
  const buyer = (name: string, filters: string[]) =>
    create('buyers', { name, number: '+13105550111', record_token_filter_list: filters });
  const filters = Array.from({ length: 100 }, (_, n) => `word:=~(?:${WORST[0]}${n})?`);
  const slow: number[] = [];
  for (let n = 0; n < 10; n++)
    slow.push(await buyer(`Slow ${n}`, [...filters.slice(1), `word:!=${n}`]));
  const plain = await buyer('Plain', []);
  const offer = await api('post', 'offers', {
    body: { name: 'Auto', buyer_ids: [...slow, plain] },
  });
  const call = await api('post', 'call_sessions', {
    body: {
      offer_id: offer.body.offer.id,
      caller_number: '+13105550199',
      tokens: { word: long.slice(0, 5_000) },
    },
  });
  expect([call.status, call.text]).toEqual([201, expect.stringContaining(`"buyer_id":${plain}`)]);
});
