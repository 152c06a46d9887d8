import {
  fillTemplate,
  findJsonFault,
  listTokens,
  toTokens,
} from '../../src/console/client/views/webhooks/template';

test('the preview of a body replaces tokens as the service does', () => {
  const tokens = { state: 'CA', empty: '' };
  const template = '{{state}} {{ state }} [state] [state]{x} [empty]{none} {{gone}}[gone]{} [word]';
  expect(fillTemplate(template, tokens)).toBe('CA CA CA CA none  [word]');
  expect(listTokens(template)).toEqual(['state', 'empty', 'gone', 'word']);
});

test('a body that begins like JSON and is none is said to be so; a form is not', () => {
  expect(findJsonFault('{"a":1}')).toBeUndefined();
  expect(findJsonFault('from=%2B1&state=CA')).toBeUndefined();
  expect(findJsonFault(' {"a":}')).toMatch(/JSON/);
});

test('a call lends its facts and its own tokens, which win', () => {
  const call = { caller_number: '+1', revenue: null, token_values: { zip: '90012', sub_id: 'b' } };
  expect(toTokens({ ...call, sub_id: 'a' })).toEqual({
    caller_number: '+1',
    caller_id: '+1',
    sub_id: 'b',
    zip: '90012',
  });
});
