import { loadClientModule } from '../support/client-module';

// Decisions in the words of a manager; the API's own text where the console has none.

interface Fault {
  reason: string | null;
  message: string | null;
  details?: Record<string, unknown> | null;
}
const words = loadClientModule<{
  describeFault: (fault: Fault) => string;
  describeNoBuyer: (fault: Fault) => string;
  describeUnmet: (filter: string) => string;
  describeAlert: (message: string) => string;
}>('parts/decision-words.ts');

test.each([
  ['geo_state:in CA,NV', 'State by number (geo_state) is none of CA, NV'],
  ['state:in CA', 'state is none of CA'],
  ['state:not in CA', 'state is one of CA'],
  ['age:>=18', 'age is less than 18'],
  ['plan:gold', 'plan is not gold'],
  ['zip:in_list South', 'zip is not in the value list South'],
  ['what is this', 'The filter does not hold: what is this'],
])('the filter %s', (filter, text) => {
  expect(words.describeUnmet(filter)).toBe(text);
});

test('a buyer that is closed, and one that is paused', () => {
  const message = 'the buyer is closed until 2026-11-30 09:00 America/New_York';
  expect(words.describeFault({ reason: 'closed', message })).toBe(
    'Closed until Monday, Nov 30, 09:00 (New York)',
  );
  expect(words.describeFault({ reason: 'paused', message: 'the buyer is paused' })).toBe(
    'The buyer is paused',
  );
});

test('no buyer, and a cap in an alert', () => {
  const message = 'no buyer of the offer can take the call';
  expect(words.describeNoBuyer({ reason: 'no_buyer_available', message })).toBe(
    'No buyer could take it',
  );
  expect(words.describeNoBuyer({ reason: 'offer_paused', message: 'the offer is paused' })).toBe(
    'The offer is paused',
  );
  expect(words.describeAlert('90 % of revenue_daily is used (90 of 100): Acme')).toBe(
    '90 % of “Revenue today” is used (90 of 100): Acme',
  );
});
