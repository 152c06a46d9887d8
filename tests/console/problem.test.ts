import { loadClientModule } from '../support/client-module';

// An error is said once, and in the words of the fields.

const { ApiError, describeProblem } = loadClientModule<{
  ApiError: new (status: number, problem: object) => Error;
  describeProblem: (error: unknown) => { message?: string; faults: [string, string][] };
}>('api-error');
const { endPeriod } = loadClientModule<{ endPeriod: (to: string, now: number) => string }>(
  'views/money/new-statement',
);

test('a fault of a field that is the whole message is not said twice', () => {
  const errors = { created_at_to: ['must be at least a minute ago'] };
  const detail = 'created_at_to must be at least a minute ago';
  expect(describeProblem(new ApiError(422, { detail, errors }))).toEqual({
    message: undefined,
    faults: [['Created at to', 'must be at least a minute ago']],
  });
  const more = { detail: 'Nothing was changed.', errors };
  expect(describeProblem(new ApiError(422, more)).message).toBe('Nothing was changed.');
});

test.each([
  ['ends before', '2026-11-30T23:59:59.999Z', '2026-12-05T10:00:30Z', '2026-12-01T00:00:00.000Z'],
  ['is not over', '2026-12-05T23:59:59.999Z', '2026-12-05T10:00:30Z', '2026-12-05T09:58:00.000Z'],
])('a statement of a period that %s', (_, to, now, end) => {
  expect(endPeriod(to, Date.parse(now))).toBe(end);
});
