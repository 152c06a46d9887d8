import {
  describeWait,
  isFieldOfKind,
  listSteps,
  positionAt,
  positionToMove,
  type Step,
} from '../../src/console/client/views/timeline/steps';

const step = (id: number, position: number, more: Partial<Step> = {}): Step =>
  ({ id, position, end_of_schedule: false, wait_until: null, ...more }) as Step;

test.each([
  [{ wait_amount: 1, wait_unit: 'hours' }, '1 hour later'],
  [{ wait_amount: 2, wait_unit: 'days' }, '2 days later'],
  [{ wait_amount: 0, wait_unit: 'minutes' }, '0 minutes later'],
  [{ wait_until: '09:00' }, 'At the next 09:00'],
])('a wait %j reads as %s', (wait, words) => {
  expect(describeWait(step(1, 1, wait))).toBe(words);
});

test('a step between two has the middle of their positions; the last one none of its own', () => {
  const steps = [step(1, 1), step(2, 2), step(3, 8)];
  expect([0, 1, 2, 3].map((index) => positionAt(steps, index))).toEqual([0, 1.5, 5, null]);
  expect(positionAt([], 0)).toBeNull();
});

test('a move leaves every other step where it is, whichever way it goes', () => {
  const steps = [1, 2, 3, 4].map((n) => step(n, n));
  for (const from of steps.keys())
    for (const to of steps.keys()) {
      const position = positionToMove(steps, from, to);
      if (from === to) {
        expect(position).toBeUndefined();
        continue;
      }
      const moved = steps.map((other, index) =>
        index === from ? { ...other, position: position ?? 5 } : other,
      );
      const expected = steps.filter((_, index) => index !== from).toSpliced(to, 0, steps[from]!);
      expect(listSteps(moved, false).map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    }
  expect([positionToMove(steps, 0, -1), positionToMove(steps, 3, 4)]).toEqual([
    undefined,
    undefined,
  ]);
});

test('a step has the fields of its kind, and of those the ones that a choice leaves a meaning', () => {
  const wait = { action_type: 'wait' };
  expect(['body', 'wait_amount'].map((name) => isFieldOfKind(name, wait))).toEqual([false, true]);
  const dial = { action_type: 'dial', connect_to: '', machine_action: 'hang_up' };
  expect(isFieldOfKind('only_when_buyer_available', dial)).toBe(true);
  expect(isFieldOfKind('only_when_buyer_available', { ...dial, connect_to: '+1' })).toBe(false);
  expect(isFieldOfKind('machine_message', dial)).toBe(false);
  expect(isFieldOfKind('machine_message', { ...dial, machine_action: 'leave_message' })).toBe(true);
});
