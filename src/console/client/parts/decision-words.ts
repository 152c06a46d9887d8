import { OPERATORS, parseFilter, type Operator } from '../editors/filter-text';
import { capitalize, sentence, words } from '../format';
import { capTitle } from './caps';

// The reasons of the API in sentences. Its own texts, which programs read too, name codes and times
// as logs do; the console has words for what stands in fields, and keeps the text for the rest.

/** Facts of each call that filters ask for, as people call them. */
const TOKEN_NAMES: Readonly<Record<string, string>> = {
  geo_state: 'State by number',
  geo_city: 'City by number',
  geo_zip: 'ZIP by number',
  geo_country: 'Country by number',
  area_code: 'Area code',
  number_called: 'Number called',
  sub_id: 'Sub-ID',
};

/** A token by one name all over the console. */
export const nameToken = (name: string): string =>
  TOKEN_NAMES[name] ? `${TOKEN_NAMES[name]} (${name})` : name;

/** Each comparison and its opposite. */
const OPPOSITES: readonly (readonly [Operator, Operator])[] = [
  ['==', '!='],
  ['in', 'not in'],
  ['>=', '<'],
  ['<=', '>'],
  ['in_list', 'not in_list'],
  ['=~', '!~'],
];

function sayOpposite(operator: Operator): string {
  const pair = OPPOSITES.find((operators) => operators.includes(operator))!;
  const opposite = pair[0] === operator ? pair[1] : pair[0];
  return OPERATORS.find(([name]) => name === opposite)![1];
}

/** `geo_state:in CA,NV` as why a call was kept away. */
export function describeUnmet(filter: string): string {
  const parsed = parseFilter(filter);
  if (!parsed) return `The filter does not hold: ${filter}`;
  const { name, operator, value } = parsed;
  return `${nameToken(name)} ${sayOpposite(operator)} ${value.replaceAll(',', ', ')}`;
}

const LOCAL_TIME = /(\d{4}-\d\d-\d\d) (\d\d:\d\d) (UTC|[A-Z]\w+\/[\w/+-]+)/g;
const DAY = new Intl.DateTimeFormat('en-US', {
  weekday: 'long',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

/** `America/New_York` as `New York`. */
const nameZone = (zone: string): string => zone.split('/').at(-1)!.replaceAll('_', ' ');

/** `2026-11-30 09:00 America/New_York` as `Monday, Nov 30, 09:00 (New York)`. */
const sayTimes = (text: string): string =>
  text.replace(
    LOCAL_TIME,
    (_, day: string, time: string, zone: string) =>
      `${DAY.format(new Date(`${day}T00:00Z`))}, ${time} (${nameZone(zone)})`,
  );

interface Fault {
  reason: string | null;
  message: string | null;
  details?: Readonly<Record<string, unknown>> | null;
}

/** Why a buyer does not get a call. */
export function describeFault({ reason, message, details }: Fault): string {
  const filter = details?.filter;
  if (reason === 'filter_unmet' && typeof filter === 'string') return describeUnmet(filter);
  return capitalize(sayTimes(message ?? words(reason)).replace(/^the buyer is closed/, 'closed'));
}

const REASONS: Readonly<Record<string, string>> = {
  no_buyer_available: 'No buyer could take it',
  no_buyers: 'The offer has no buyers',
};

/** Why a call ended, or went to no buyer. */
export const describeReason = (reason: string): string => REASONS[reason] ?? sentence(reason);

/** Why no buyer is dialed. */
export const describeNoBuyer = ({ reason, message }: Fault): string =>
  (reason !== null && REASONS[reason]) || capitalize(sayTimes(message ?? words(reason)));

const CAP = /\b(?:attempt|connection|buyer_conversion|earned_revenue|revenue)_[a-z]+\b/g;

/** The text of an alert, with caps as the forms call them. */
export const describeAlert = (message: string): string =>
  message.replace(CAP, (name) => `“${capTitle(name)}”`);
