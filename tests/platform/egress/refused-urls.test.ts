import { createGuardedRequest } from '../../../src/platform/egress/guarded-request';
import { findHeaderFault } from '../../../src/platform/egress/refused-headers';
import { findUrlFault } from '../../../src/platform/egress/refused-urls';

test('public addresses next to the refused networks are not refused', () => {
  const hosts = (
    '1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 ' +
    '128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 ' +
    '192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 example.com example.com. ' +
    'localhost.example.com notlocalhost [2606:4700::1111] [2001:200::1] ' +
    '[2001:db7:ffff::] [2001:db9::] [2003::1] [3ffe::1] [::ffff:8.8.8.8] ' +
    '[64:ff9b::8.8.8.8]'
  ).split(' ');
  expect(hosts.filter((host) => findUrlFault(`https://${host}/`, []))).toEqual([]);
});

test('an allowed network allows its own addresses only', () => {
  const opens = (network: string, host: string) =>
    findUrlFault(`http://${host}/`, [network]) === undefined;
  expect(
    ['10.1.2.3', '[::ffff:10.1.2.3]', '[64:ff9b::a01:203]', '10.2.0.0', '127.0.0.1', '[::1]'].map(
      (host) => opens('10.1.0.0/16', host),
    ),
  ).toEqual([true, true, true, false, false, false]);
  expect(
    ['[fd00::1]', '[fc00::1]', '[::1]', '10.0.0.1', '127.0.0.1', 'localhost'].map((host) =>
      opens('fd00::/8', host),
    ),
  ).toEqual([true, false, false, false, false, false]);
  expect(
    ['127.0.0.1', '[::ffff:127.0.0.1]', '[64:ff9b::a00:1]'].map((host) => opens('::/0', host)),
  ).toEqual([false, false, false]);
  for (const wrong of [
    '10.0.0.0/',
    '10.0.0.0/33',
    'localhost',
    '',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '/0',
  ])
    expect(() => createGuardedRequest({ allow_networks: [wrong] })).toThrow();
});

test('the reason why a URL is refused follows the name of its field', () => {
  expect(findUrlFault('https://example.com:8443/a?b=[c]{d}#e', [])).toBeUndefined();
  for (const url of [
    'ftp://example.com',
    'file:///etc/passwd',
    'javascript:1',
    'example.com',
    'http://',
    'http://a b/',
    'http://example.com:65536/',
  ])
    expect([url, findUrlFault(url, [])]).toEqual([url, 'must be an http or https URL']);
  expect(findUrlFault('https://user@example.com', [])).toMatch(/user name/);
  expect(findUrlFault('https://:secret@example.com', [])).toMatch(/password/);
  expect(findUrlFault('http://example.com:25', [])).toMatch(/port 25/);
  expect(findUrlFault('http://example.com:0', [])).toMatch(/port 0/);
  expect(findUrlFault('http://127.0.0.1', [])).toMatch(/address/);
  // All that is wrong is said at once.
  expect(findUrlFault('http://user@127.0.0.1:9', [])).toBe(
    'must not contain a user name or password, and must not lead to port 9, and must not lead ' +
      'to a local, private or reserved address',
  );
});

test('header names and values that would break a request are refused', () => {
  expect(findHeaderFault({ 'X-Key': 'café\t1', accept: '' })).toBeUndefined();
  for (const name of [
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'a b',
    '',
    'a:',
    'x\r\ny',
  ])
    expect(findHeaderFault({ [name]: '1' })).toBeDefined();
  for (const value of ['a\r\nb: c', 'a\nb', 'a\rb', 'a\0', 'a\u010a', '\u{1f4a1}'])
    expect(findHeaderFault({ a: value })).toBeDefined();
});
