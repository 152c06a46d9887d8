// Comparison of values in filters: numbers as people write them, and texts with equal meanings.

/** Plain, with an exponent, or with $ and commas between thousands: -1.5, 1e6, $1,000.50. */
const NUMBER =
  /^(?<sign>[+-]?)(?<dollar>\$?)(?<sign2>[+-]?)(?<digits>\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?<exponent>e[+-]?\d+)?$/i;

/** Undefined for a text that is no number. */
export function numberIn(text: string): number | undefined {
  const { groups } = NUMBER.exec(text.trim()) ?? {};
  if (!groups || (groups.sign && groups.sign2)) return undefined;
  const { sign, sign2, digits, exponent = '' } = groups;
  return Number(`${sign || sign2}${digits!.replaceAll(',', '')}${exponent}`);
}

export const isNumeric = (text: string): boolean => Number.isFinite(numberIn(text) ?? NaN);

/** A number with a dollar sign or with commas. */
export const isFormatted = (text: string): boolean =>
  /[$,]/.test(text) && numberIn(text) !== undefined;

export const foldCase = (text: string): string => text.trim().toLowerCase();

const PHONES = new Set(['number_called', 'caller_id', 'caller_number', 'service_number']);
const STATES = new Set(['geo_state', 'state', 'state_province']);

/** Returns the function that normalizes values of a token: equal results for equal meanings. */
export function keyFor(name: string): (value: string) => string {
  if (PHONES.has(name)) return phoneKey;
  return STATES.has(name) ? stateKey : foldCase;
}

/** +1 310 555 0123, 13105550123 and (310) 555-0123 are one number. */
function phoneKey(value: string): string {
  if (!/^[\s+\d().-]+$/.test(value)) return foldCase(value);
  const digits = value.replace(/\D/g, '');
  return digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
}

/** California and CA are one state. */
const stateKey = (value: string): string => stateCode(value)?.toLowerCase() ?? foldCase(value);

/** States, districts and territories of the US, and provinces of Canada, by their postal codes. */
const NAMES: Record<string, string> = Object.fromEntries(
  (
    'AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|' +
    'DE Delaware|DC District of Columbia|DC Washington D.C.|DC Washington DC|FL Florida|' +
    'GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|' +
    'LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|' +
    'MS Mississippi|MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|' +
    'NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|ND North Dakota|OH Ohio|' +
    'OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|SC South Carolina|SD South Dakota|' +
    'TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|WA Washington State|' +
    'WV West Virginia|WI Wisconsin|WY Wyoming|PR Puerto Rico|VI U.S. Virgin Islands|' +
    'VI Virgin Islands|GU Guam|AS American Samoa|MP Northern Mariana Islands|' +
    'AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|' +
    'NL Newfoundland and Labrador|NL Newfoundland|NS Nova Scotia|NT Northwest Territories|' +
    'NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|QC Québec|SK Saskatchewan|' +
    'YT Yukon|YT Yukon Territory'
  )
    .split('|')
    .map((entry) => [entry.slice(3).toLowerCase(), entry.slice(0, 2)]),
);

/** The postal code of a state or province that is named in full; undefined for anything else. */
export function stateCode(name: string): string | undefined {
  const fullName = name.trim().toLowerCase().replace(/\s+/g, ' ');
  return Object.hasOwn(NAMES, fullName) ? NAMES[fullName] : undefined;
}
