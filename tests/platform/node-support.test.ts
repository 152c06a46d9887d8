import { describeNodeSupport } from '../../src/platform/node-support';

test.each([
  ['20.19.0', 'Node.js 20 has been out of support since April 2026: use Node.js 24.'],
  ['22.12.0', undefined],
  ['24.11.0', undefined],
])('a start on Node.js %s says: %s', (version, sentence) => {
  expect(describeNodeSupport(version)).toBe(sentence);
});
