import { describeNouns } from '../../src/console/describe-nouns';
import { ianaName } from '../../src/platform/time/zone';
import { loadClientModule } from '../support/client-module';

// The console calls a thing by one word everywhere, and a question says what follows.

interface Layout {
  groups: object[];
  labels?: Record<string, string>;
}
const { findLabel } = loadClientModule<{ findLabel: (layout: Layout, name: string) => string }>(
  'form/field',
);
const { buyers } = loadClientModule<{ buyers: Layout }>('nouns/buyers');
const { METRIC_NAMES } = loadClientModule<{ METRIC_NAMES: Record<string, string> }>('parts/caps');
const { joinCounts } = loadClientModule<{
  joinCounts: (counts: unknown[][]) => string | undefined;
}>('nouns/losses');

test.each([
  ['concurrency_cap_limit', 'Calls at once'],
  ['buyer_conversion_daily_limit', 'Calls paid for in a day'],
  ['earned_revenue_total_limit', 'Margin in all'],
  ['current_conversion_duration', 'If it lasts at least, seconds'],
  ['time_zone', 'Time zone'],
])('a change of %s is called as the form calls the field', (name, label) => {
  expect(findLabel(buyers, name)).toBe(label);
});

test('limits of hours are called as those of days', () => {
  for (const [metric, word] of Object.entries(METRIC_NAMES))
    expect(findLabel(buyers, `${metric}_daily_limit`)).toBe(`${word} in a day`);
});

test.each([
  [[], undefined],
  [[[0, 'number']], undefined],
  [
    [
      [1, 'number'],
      [0, 'schedule'],
    ],
    '1 number',
  ],
  [
    [
      [2, 'number'],
      [1, 'schedule'],
      [1_200, 'lead', true],
    ],
    '2 numbers, 1 schedule and at least 1,200 leads',
  ],
])('what a deletion cuts off: %j', (counts, text) => {
  expect(joinCounts(counts)).toBe(text);
});

test('the zones that are offered first are zones of the API, and their fault is in words of forms', () => {
  const { COMMON_ZONES } = loadClientModule<{ COMMON_ZONES: Record<string, string> }>('form/zones');
  for (const [name, zone] of Object.entries(COMMON_ZONES)) expect(ianaName(name)).toBe(zone);
  const { groupFaults } = loadClientModule<{ groupFaults: (...args: object[]) => object }>(
    'form/model',
  );
  const fault = 'must be a time zone of /api/v1/collections/time_zone';
  expect(groupFaults({ time_zone: [fault] }, { time_zone: {} })).toMatchObject({
    byField: { time_zone: ['is unknown: choose a time zone of the list'] },
  });
});

test('times in texts of the API are in the zone and format of the console', () => {
  const { localizeTimes } = loadClientModule<{
    localizeTimes: (text: string, now: number) => string;
  }>('format');
  const now = Date.parse('2025-01-31T12:00:00Z');
  const say = (text: string) => localizeTimes(text, now);
  expect(say('until 2025-02-01T09:00:00.000Z: closed')).toMatch(
    /^until [A-Z][a-z]{2} \d+, 2025.*: closed$/,
  );
  expect(say('tried again at 2025-02-01T09:00:00.000Z')).toMatch(/^next try at \w+ \d+, 2025/);
  expect(say('tried again at 2025-01-01T09:00:00.000Z')).toMatch(/^tried again at \w+ \d+, 2025/);
  expect(say('nothing to say')).toBe('nothing to say');
});

test('columns for choice are those for people, each title once', () => {
  const { listChoices, titleColumn } = loadClientModule<{
    listChoices: (layout: object, noun: object) => string[];
    titleColumn: (layout: object, column: { name: string }) => string;
  }>('table/columns');
  for (const [name, noun] of Object.entries(describeNouns().nouns)) {
    const layout = { noun: name, columns: ['created_at'] };
    const names = listChoices(layout, noun);
    const titles = names.map((column) => titleColumn(layout, { name: column }));
    expect(new Set(titles).size).toBe(titles.length);
    expect(names).not.toContain('legacy_id');
    expect(names).not.toContain('routes_show_path');
    if (name === 'calls') {
      expect(names).toContain('offer');
      expect(names).not.toContain('offer_id');
      expect(names).not.toContain('user_offer_id');
    }
  }
});

test.each([
  [{}, /^calls-\d{4}-\d\d-\d\d\.csv$/],
  [{ created_at_from: '2026-11-01T00:00:00Z' }, /^calls-2026-11-01\.csv$/],
  [
    { created_at_from: '2026-11-01T00:00:00Z', created_at_to: '2026-11-27T23:59:59.999Z' },
    /^calls-2026-11-01-to-2026-11-27\.csv$/,
  ],
])('a file is named by its days: %j', (filters, name) => {
  const { nameFile } = loadClientModule<{
    nameFile: (name: string, filters: object, zone: string) => string;
  }>('table/export');
  expect(nameFile('calls', filters, 'UTC')).toMatch(name);
});
