import { suggestionFor } from '../../src/api/records/suggestion';
import { useWorld } from '../support/use-world';

// A name that an operation does not have is refused together with the one that was meant, if an own
// name of the operation is close.

const world = useWorld();

const NAMES = ['page', 'per_page', 'order', 'order_dir', 'created_at_from', 'created_at_to', 'id'];

test.each([
  ['perpage', 'per_page'],
  ['per-page', 'per_page'],
  ['perPage', 'per_page'],
  ['per_paeg', 'per_page'],
  ['Page', 'page'],
  ['pages', 'page'],
  ['oder', 'order'],
  ['createdAtFrom', 'created_at_from'],
  ['created_at_form', 'created_at_from'],
])('%s is taken to mean %s', (name, meant) => {
  expect(suggestionFor(name, NAMES)).toBe(`; did you mean ${meant}?`);
});

test.each(['limit', 'offset', 'ix', 'nonsense', 'p', '', 'x'.repeat(100_000)])(
  'nothing is suggested for %.20s',
  (name) => {
    expect(suggestionFor(name, NAMES)).toBe('');
  },
);

test.each([
  ['of a list', 'get', 'buyers', { query: { perpage: 5 } }, 'perpage', 'parameter', 'per_page'],
  ['of a create', 'post', 'buyers', { body: { wieght: 5 } }, 'wieght', 'field', 'weight'],
  [
    'of a nested field',
    'post',
    'buyers',
    { body: { business_hours_schedule: [{ schedul: 'Mon 09:00' }] } },
    'business_hours_schedule.0.schedul',
    'field',
    'schedule',
  ],
] as const)('a wrong name %s', async (_, method, path, input, field, kind, meant) => {
  const { status, body } = await world.company.api(method, path, input);
  expect([status, body.errors[field], body.error_codes[field]]).toEqual([
    422,
    [`is not a ${kind} of this operation; did you mean ${meant}?`],
    [`unknown_${kind}`],
  ]);
});
