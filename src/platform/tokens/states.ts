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
