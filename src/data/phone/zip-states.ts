import { findByZip, invertTable } from './zip-zones';

/** The states and territories of US ZIP codes by their first three digits. */
const US_CENTERS: Readonly<Record<string, string>> = {
  AK: '995-999',
  AL: '350-352 354-369',
  AR: '716-729',
  AZ: '850-853 855-857 859-860 863-865',
  CA: '900-908 910-928 930-961',
  CO: '800-816',
  CT: '060-069',
  DC: '200 202-205 569',
  DE: '197-199',
  FL: '320-339 341-342 344 346-347 349',
  GA: '300-319 398-399',
  GU: '969',
  HI: '967-968',
  IA: '500-516 520-528',
  ID: '832-838',
  IL: '600-620 622-629',
  IN: '460-479',
  KS: '660-662 664-679',
  KY: '400-418 420-427',
  LA: '700-701 703-708 710-714',
  MA: '010-027 055',
  MD: '206-212 214-219',
  ME: '039-049',
  MI: '480-499',
  MN: '550-551 553-567',
  MO: '630-631 633-641 644-658',
  MS: '386-397',
  MT: '590-599',
  NC: '270-289',
  ND: '580-588',
  NE: '680-681 683-693',
  NH: '030-038',
  NJ: '070-089',
  NM: '870-871 873-875 877-884',
  NV: '889-891 893-895 897-898',
  NY: '005 100-149',
  OH: '430-459',
  OK: '730-731 734-741 743-749',
  OR: '970-979',
  PA: '150-196',
  PR: '006-007 009',
  RI: '028-029',
  SC: '290-299',
  SD: '570-577',
  TN: '370-385',
  TX: '733 750-770 772-799 885',
  UT: '840-847',
  VA: '201 220-246',
  VI: '008',
  VT: '050-054 056-059',
  WA: '980-986 988-994',
  WI: '530-532 534-535 537-549',
  WV: '247-268',
  WY: '820-831',
};

/** ZIP codes in another state than their center, and those of states that are not listed. */
const US_ELSEWHERE: Readonly<Record<string, string>> = {
  AS: '96799',
  MD: '20588',
  MP: '96950 96951 96952',
  NY: '06390',
  TX: '73960',
  VA: '20598',
  WY: '83414',
  '': '96939 96940 96941 96942 96943 96944 96960 96970',
};

/** X is shared by two territories. */
const CANADA: Readonly<Record<string, string>> = {
  AB: 'T',
  BC: 'V',
  MB: 'R',
  NB: 'E',
  NL: 'A',
  NS: 'B',
  NT: 'X0E X0G X1A',
  NU: 'X0A X0B X0C',
  ON: 'K L M N P',
  PE: 'C',
  QC: 'G H J',
  SK: 'S',
  YT: 'Y',
};

const STATES = {
  elsewhere: invertTable(US_ELSEWHERE),
  centers: invertTable(US_CENTERS),
  canada: invertTable(CANADA),
};

/** Territories that are countries of their own for telephone numbers. */
const TERRITORIES = new Set(['AS', 'GU', 'MP', 'PR', 'VI']);

export interface ZipPlace {
  /** Two letters each. */
  state: string;
  country: string;
}

/** The place of a US ZIP code or a Canadian postal code; undefined when it is of no one state. */
export function findZipPlace(zip: string): ZipPlace | undefined {
  const [state] = findByZip(zip, STATES);
  if (!state) return undefined;
  if (TERRITORIES.has(state)) return { state, country: state };
  return { state, country: /^\s*[a-z]/i.test(zip) ? 'CA' : 'US' };
}
