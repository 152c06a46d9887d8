import { decodeEscapes } from '../../../src/api/request/escapes';
import { readForm, readQuery } from '../../../src/api/request/parameters';
import { fresh } from '../../support/lead-records';
import { useSubmissions } from '../../support/submissions';

// Pages in Latin-1, and software that does not encode: a value that cannot be decoded as a whole
// was kept with all its escapes.

const { api, world, shop } = useSubmissions();

const CASES: [string, string][] = [
  ['Jos%E9', 'José'],
  ['Jos%e9+Mu%F1oz', 'José Muñoz'],
  ['Jos%C3%A9', 'José'],
  ['%C3%A9%E9%C3%A9', 'ééé'],
  ['50%+off', '50% off'],
  ['100%', '100%'],
  ['100%25', '100%'],
  ['5%-10%20x', '5%-10 x'],
  ['%zz%20a', '%zz a'],
  ['O%92Neil', 'O’Neil'],
  ['%80', '€'],
  ['%F0%9F%98%80', '😀'],
  ['%ED%A0%80', 'í\u00a0€'],
  ['a%2Bb', 'a+b'],
  ['%', '%'],
  ['%4', '%4'],
];

test.each(CASES)(
  '%j is %j, in a name and in a value, of a form and of a query string',
  (text, value) => {
    for (const read of [readQuery(`a=${text}&${text}=1`), readForm(`a=${text}&${text}=1`, 'utf-8')])
      expect(read).toEqual({ a: value, [value]: '1' });
  },
);

test('a form that says that it is Latin-1 has no other escapes', () => {
  expect(readForm('a=Jos%E9&b=%C3%A9&c=%80&d=5%', 'iso-8859-1')).toEqual({
    a: 'José',
    b: 'Ã©',
    c: '€',
    d: '5%',
  });
});

test('text without an error is decoded as the standard says', () => {
  for (const text of ['é', 'a b', '😀%', '%41', '€&=', '\u007f']) {
    const encoded = encodeURIComponent(text);
    for (const charset of ['utf-8', 'iso-8859-1'] as const)
      expect(decodeEscapes(encodeURIComponent('a b'), charset)).toBe('a b');
    expect(decodeEscapes(encoded, 'utf-8')).toBe(decodeURIComponent(encoded));
  }
});

test('a lead by query string and by form, and a search', async () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  for (const isQuery of [true, false]) {
    const text = `lead_token=${shop.schedule.lead_token}&caller_id=${fresh()}&first_name=Jos%E9&rate=5%`;
    const { status, body } = isQuery
      ? await api('post', `leads?${text}`, { auth: null })
      : await api('post', 'leads', { auth: null, body: text, headers });
    expect([status, body.lead?.data]).toEqual([201, { first_name: 'José', rate: '5%' }]);
  }
  await world.create('buyers', { name: 'José Autos' });
  const list = await api('get', 'buyers?fulltext=Jos%E9');
  expect([list.status, list.body.buyers?.[0]?.name]).toEqual([200, 'José Autos']);
});
