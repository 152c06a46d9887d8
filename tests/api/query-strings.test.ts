import { parse } from 'qs';
import { readQuery } from '../../src/api/request/parameters';

// Plain query strings are read without qs. They must mean what they would mean to qs.

const PARTS = [
  ...['a=1', 'b=2', 'a=3', 'a', 'b=', '=c', '', '=', 'a=b=c', 'a.b=1', 'a,b=1,2', 'ü=é', '1=2'],
  ...['a[]=1', 'a[b]=1', 'a%5Bb%5D=2', 'c=x+y', 'd=%20', 'e=%zz', '__proto__=1', 'toString=2'],
  ...['a;b=1', 'f=&amp;', 'constructor=1', 'g=?', 'h=#', 'i=:,;@', "j='", 'k=~*!()', 'l==', 'm=]'],
];
const OPTIONS = { depth: 5, plainObjects: true, arrayLimit: 100 } as const;
const shown = (value: unknown) => JSON.stringify(value, (_, inner: unknown) => inner);

test('each pair and triple of parameters is read as qs reads it', () => {
  for (const a of PARTS)
    for (const b of PARTS)
      for (const text of [a, `${a}&${b}`, `${b}&c=1&${a}`])
        expect([text, shown(readQuery(text))]).toEqual([text, shown(parse(text, OPTIONS))]);
});

test('no name of a parameter reaches what objects inherit', () => {
  const query = readQuery('__proto__=1&constructor=2&toString=3');
  expect(Object.getPrototypeOf(query)).toBeNull();
  expect(Object.keys(query)).toEqual(['constructor', 'toString']);
});
