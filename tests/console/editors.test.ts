import {
  copyDay,
  drawWeek,
  findTimesFault,
  formatTimes,
  paintTimes,
  readTimes,
  withTimes,
} from '../../src/console/client/editors/hours';
import { parseFilter, printFilter } from '../../src/console/client/editors/filter-text';

// The editors of structured values keep what they do not change, letter for letter.

test.each([
  ['09:00-17:00', ['09:00..16:59'], '09:00–17:00'],
  ['9-17', ['09:00..16:59'], '09:00–17:00'],
  ['9am – 5:30pm', ['09:00..17:29'], '09:00–17:30'],
  ['12am–12pm', ['00:00..11:59'], '00:00–12:00'],
  ['22:00–06:00', ['22:00..05:59'], '22:00–06:00'],
  ['00:00-24:00', ['00:00..23:59'], '00:00–24:00'],
  ['09:00–12:00, 13:00–17:30', ['09:00..11:59', '13:00..17:29'], '09:00–12:00, 13:00–17:30'],
  ['', [], ''],
])('%p is %p, and is shown as %p', (typed, times, shown) => {
  expect(readTimes(typed)).toEqual(times);
  expect(formatTimes(times)).toBe(shown);
  expect(readTimes(shown)).toEqual(times);
});

test.each(['25:00–26:00', '09:00', '09:00–09:00', 'nine to five', '09:61-10:00'])(
  '%p is named as a fault, and reaches the API as it is, which refuses it',
  (typed) => {
    expect(findTimesFault(typed)).toBe(typed);
    expect(readTimes(typed)).toEqual([typed]);
  },
);

test('hours past midnight are drawn on the next day, and stay as they were when another day changes', () => {
  const week = [{ day: 6, times: ['22:00..05:59'] }];
  const [sunday, , , , , , saturday] = drawWeek(week);
  expect(saturday).toEqual({ own: [{ from: 1320, to: 1440 }], before: [] });
  expect(sunday).toEqual({ own: [], before: [{ from: 0, to: 360 }] });
  expect(withTimes(week, 1, ['09:00..16:59'])).toEqual([
    { day: 1, times: ['09:00..16:59'] },
    { day: 6, times: ['22:00..05:59'] },
  ]);
});

test('a stroke opens and closes minutes of its day; what touches becomes one', () => {
  const nine = ['09:00..16:59'];
  expect(paintTimes(nine, { from: 17 * 60, to: 18 * 60 }, true)).toEqual(['09:00..17:59']);
  expect(paintTimes(nine, { from: 12 * 60, to: 13 * 60 }, false)).toEqual([
    '09:00..11:59',
    '13:00..16:59',
  ]);
  expect(paintTimes(nine, { from: 0, to: 1440 }, false)).toEqual([]);
  expect(paintTimes(['22:00..05:59'], { from: 8 * 60, to: 9 * 60 }, true)).toEqual([
    '08:00..08:59',
    '22:00..05:59',
  ]);
});

test('a day is copied to others, closed days too', () => {
  const week = [{ day: 2, times: ['10:00..10:59'] }];
  expect(copyDay(week, 1, [2, 3])).toEqual([]);
  expect(copyDay(week, 2, [3])).toEqual([week[0], { day: 3, times: ['10:00..10:59'] }]);
});

test.each([
  ['state:CA', { name: 'state', operator: '==', value: 'CA' }, 'state:==CA'],
  ['state:==in CA', { name: 'state', operator: '==', value: 'in CA' }, 'state:==in CA'],
  ['state:in CA,NV', { name: 'state', operator: 'in', value: 'CA,NV' }, 'state:in CA,NV'],
  ['age:>=18', { name: 'age', operator: '>=', value: '18' }, 'age:>=18'],
  ['zip:!~^90', { name: 'zip', operator: '!~', value: '^90' }, 'zip:!~^90'],
  [
    'zip:not in_list west coast',
    { name: 'zip', operator: 'not in_list', value: 'west coast' },
    'zip:not in_list west coast',
  ],
])('the filter %p has the parts %p', (text, parts, printed) => {
  expect(parseFilter(text)).toEqual(parts);
  expect(printFilter(parseFilter(text)!)).toBe(printed);
});

test.each(['no colon', 'State:CA', 'state:IN (CA, NV)', 'state:  CA', 'state:~CA', ''])(
  '%p has other parts, and stays a text',
  (text) => expect(parseFilter(text)).toBeUndefined(),
);
