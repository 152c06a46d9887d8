import fc from 'fast-check';
import { compileFilter, parseFilter } from '../../../src/platform/tokens/filters';
import {
  escapeHtml,
  ownTokens,
  substitute,
  tokenNames,
} from '../../../src/platform/tokens/substitute';
import { cpuMs } from '../../support/patience';

const person = ownTokens({
  first_name: 'Ada',
  age: 36,
  active: false,
  blank: ' \n',
  tags: ['a', { b: 1 }],
  none: null,
  looks: '{{age}} [age]{x}',
  '7': 'seven',
});

describe('substitution', () => {
  test.each([
    ['Hello {{first_name}}!', 'Hello Ada!'],
    ['Hello {{ first_name }} and {{\tage\n}}', 'Hello Ada and 36'],
    ['[first_name]{friend}, [age]{}', 'Ada, 36'],
    ['[last_name]{friend}, [last_name]{}.', 'friend, .'],
    ['{{last_name}}|{{none}}|{{blank}}|[blank]{default}', '|||default'],
    ['{{active}} {{tags}} {{7}}', 'false ["a",{"b":1}] seven'],
    ['[first_name], [age] and [first_name] {x}', 'Ada, 36 and Ada {x}'],
    ['[word] [First_name] [first name] [] [7]', '[word] [First_name] [first name] [] [7]'],
    ['|[none]|[blank]|[tags]|', '|||["a",{"b":1}]|'],
    ['[first_name][age] x_[age] [[age]]', 'Ada36 x_36 [36]'],
    [
      'lead[first_name]=[first_name]&a[b][age]=1&c[age]&d[]=[age]',
      'lead[first_name]=Ada&a[b][age]=1&c36&d[]=36',
    ],
    ['{"lead[age]" : "x[age]", "[age]": [age]}', '{"lead[age]" : "x36", "36": 36}'],
    ['<![CDATA[age]]> <![CDATA[[age]]]>', '<![CDATA[age]]> <![CDATA[36]]>'],
    [
      '{first_name} {{First_name}} {{first name}} {{}} {{ }} []{x}',
      '{first_name} {{First_name}} {{first name}} {{}} {{ }} []{x}',
    ],
    ['{{{first_name}}} [[first_name]{x}]', '{Ada} [Ada]'],
    ['{{first_name} }} [first_name]{never closed', '{{first_name} }} [first_name]{never closed'],
    ['[first_name]{ {{age}} [gone]{{{age}}}', 'Ada} {{age}}'],
    ['[gone]{a {{age} b}', 'a {{age b}'],
    ['{{looks}}', '{{age}} [age]{x}'],
    ['{{__proto__}}{{constructor}}[to_string]{}[hasownproperty]{}', ''],
    [`{{${'a'.repeat(100)}}}|{{${'a'.repeat(101)}}}`, `|{{${'a'.repeat(101)}}}`],
  ])('%s', (text, expected) => expect(substitute(text, person)).toBe(expected));

  test('names of JavaScript are ordinary names', () => {
    const tokens = ownTokens(JSON.parse('{"__proto__":"p","constructor":"c"}'));
    expect(substitute('{{__proto__}} [constructor]{}', tokens)).toBe('p c');
  });

  test('values are escaped, the template and its defaults are the author’s', () => {
    const tokens = ownTokens({ name: `<b a="1" c='2'>&` });
    expect(substitute('<p>{{name}}[gone]{<i>&</i>}</p>', tokens, escapeHtml)).toBe(
      '<p>&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;<i>&</i></p>',
    );
    expect(substitute('?n={{name}}', tokens, encodeURIComponent)).toBe(
      `?n=${encodeURIComponent(`<b a="1" c='2'>&`)}`,
    );
  });

  test('names of tokens, each once', () =>
    expect(tokenNames('{{a}} [b]{ {{c} } {{ a }} [d] {{B}}')).toEqual(['a', 'b', 'd']));

  const brackets = ['{', '}', '{{', '}}', '[', ']', ']{'];
  const bracketed = fc
    .array(fc.constantFrom(...brackets, 'a', 'b', ' ', 'A', '\n', '💡'), { maxLength: 40 })
    .map((parts) => parts.join(''));

  test('a text without token forms stays as it is', () => {
    fc.assert(
      fc.property(fc.oneof(bracketed, fc.string({ unit: 'binary' })), (text) => {
        fc.pre(tokenNames(text).length === 0);
        expect(substitute(text, () => 'x')).toBe(text);
      }),
    );
  });

  test('agrees with the regular expression that says the same, slowly', () => {
    const slow = (text: string) =>
      text.replace(
        /\{\{[ \t\r\n]*([a-z0-9_]{1,100})[ \t\r\n]*\}\}|\[([a-z0-9_]{1,100})\](?:\{([^}]*)\}|(?!\{))/g,
        (form, braced, bracket, fallback) =>
          (braced ?? bracket) === 'a' ? '<A>' : (fallback ?? (bracket ? form : '')),
      );
    fc.assert(
      fc.property(bracketed, (text) =>
        expect(substitute(text, (name) => (name === 'a' ? '<A>' : undefined))).toBe(slow(text)),
      ),
      { numRuns: 5_000 },
    );
  });

  test('values that look like tokens stay as they are, whatever stands around them', () => {
    fc.assert(
      fc.property(bracketed, bracketed, (before, value) => {
        fc.pre(value.trim() !== '');
        const lone = before.replace(/[{[]/g, '');
        expect(substitute(`${lone}{{token}}${lone}[token]{b}`, () => value)).toBe(
          lone + value + lone + value,
        );
      }),
    );
  });

  const best = (text: string) =>
    Math.min(...[1, 2, 3].map(() => cpuMs(() => substitute(text, () => undefined))));
  test('a megabyte of opening brackets is read in one pass', () =>
    expect(best('{{{{{[[[['.repeat(111_111))).toBeLessThan(2_000));
  test.each([
    '{{{{{[[[[',
    '[a]{',
    '[a',
    '{{a',
    '{{ ',
    '{',
    '[',
    ' ',
    'a',
    '[a]',
    'a[a]',
    'a[',
    'a[a][a',
    'a[a]"',
    '{{a ',
    '[a]{b',
    '{{a}',
    '[a]{}',
    '{{a}}',
    ']{',
    '{{'.padEnd(40),
  ])('time is linear in %j', (unit) => {
    // It would take minutes if it were not linear.
    for (const end of ['', '}'])
      expect(best(unit.repeat(1_000_000 / unit.length) + end)).toBeLessThan(2_000);
  });
});

describe('filters', () => {
  const data = {
    state: ' ca ',
    age: '18',
    price: '12.50',
    zip: '90210',
    note: 'in-person',
    huge: 1e21,
    word: 'old',
    blank: '  ',
  };
  test.each([
    ['state:CA', true],
    ['state:NV', false],
    ['state:', false],
    ['gone:', true],
    ['blank:', true],
    ['state:!=ca', false],
    ['state:!=NV', true],
    ['gone:!=x', true],
    ['gone:!=', false],
    ['age:>=18', true],
    ['age:>18', false],
    ['age:<=18', true],
    ['age:< 18.5', true],
    ['price:<12.5', false],
    ['price:>=12.5', true],
    ['huge:>5', true],
    ['word:>=0', false],
    ['word:<0', false],
    ['gone:<5', false],
    ['blank:<=0', false],
    ['state:in NV, CA', true],
    ['state:in NV|ca', true],
    ['state:in NV', false],
    ['gone:in NV,', false],
    ['state:not in CA|NV', false],
    ['state:not in TX', true],
    ['gone:not in CA', true],
    ['zip:=~^902', true],
    ['zip:=~021', true],
    ['zip:=~^021', false],
    ['word:=~OLD', false],
    ['word:=~(?i)OLD', true],
    ['gone:=~^$', true],
    ['constructor:', true],
  ])('%s is %s', (filter, expected) =>
    expect(compileFilter(filter)!(ownTokens(data))).toBe(expected),
  );

  test.each(['no colon', 'age:>=old', 'Upper:x'])('%s is none', (filter) =>
    expect(compileFilter(filter)).toBeUndefined(),
  );

  test('a regular expression that is not allowed holds for nothing', () => {
    expect(compileFilter('zip:=~(')!(ownTokens({ zip: '(' }))).toBe(false);
    expect(compileFilter('zip:=~.{0,1000}')!(ownTokens({ zip: '' }))).toBe(false);
  });

  test('a regular expression takes linear time', () => {
    const filter = compileFilter('word:=~^(a+)+$')!;
    const match = () => expect(filter(() => `${'a'.repeat(999)}!`)).toBe(false);
    expect(cpuMs(match)).toBeLessThan(5_000);
  });

  test('never throws, and a filter and its opposite are never both true', () => {
    const operand = fc.string({ unit: 'binary' }).map((text) => text.replace(/^[\s=!<>~]+/, ''));
    fc.assert(
      fc.property(operand, fc.string(), (expected, value) => {
        const [equal, unequal] = [compileFilter(`a:${expected}`), compileFilter(`a:!=${expected}`)];
        const [within, without] = [
          compileFilter(`a:in ${expected}`),
          compileFilter(`a:not in ${expected}`),
        ];
        if (parseFilter(`a:in ${expected}`)?.operator === 'in')
          expect(within!(() => value)).toBe(!without!(() => value));
        fc.pre(parseFilter(`a:${expected}`)?.operator === '=' && unequal !== undefined);
        fc.pre(!/^["']/.test(expected));
        expect(equal!(() => value)).toBe(!unequal!(() => value));
      }),
    );
  });
});
