import { maskHeaders } from '../../../src/platform/egress/request-template';

test('headers that carry secrets are hidden, others are shown', () => {
  const secrets = [
    'Authorization',
    'Cookie',
    'set-cookie',
    'X-Api-Key',
    'x-auth-token',
    'Client-Secret',
    'X-Password',
    'Proxy-Authorization',
  ];
  expect(
    Object.values(maskHeaders(Object.fromEntries(secrets.map((name) => [name, 'x'])))),
  ).toEqual(secrets.map(() => '[hidden]'));
  expect(maskHeaders({ 'Content-Type': 'a/b', 'webhook-signature': 'v1,x' })).toEqual({
    'Content-Type': 'a/b',
    'webhook-signature': 'v1,x',
  });
});
