/**
 * The zones of US ZIP codes by their first three digits, each a sorting center of the Postal
 * Service. A center with counties on both sides of a line is listed under both zones. Zones with
 * the same clock have one name (Michigan is under New York, southern Idaho under Denver). Not
 * listed: military mail (090-099, 340, 962-966), whose code does not say where it is read.
 */
const US_CENTERS: Readonly<Record<string, string>> = {
  'America/Puerto_Rico': '006-009',
  // 324 for Port St. Joe; 368 for Phenix City and Valley, which keep the time of Georgia.
  'America/New_York':
    '005 010-089 100-324 326-339 341-349 368 373-374 376-379 398-418 425-427 430-462 465-475 ' +
    '478-499',
  'America/Chicago':
    '324-325 350-373 375 377 380-397 401 420-424 426-427 463-465 469 475-477 479 498-567 570-576 ' +
    '580-588 600-692 700-798',
  // 898 for West Wendover; 860 and 865 for the Navajo Nation, which has daylight saving time.
  'America/Denver':
    '575-577 585-586 590-599 677-678 690-693 798-837 840-847 860 865 870-885 898 979',
  'America/Phoenix': '850-865',
  'America/Los_Angeles': '835 838 889-898 900-961 970-994',
  'America/Anchorage': '995-999',
  'Pacific/Honolulu': '967-968',
  'Pacific/Guam': '969',
};

/** ZIP codes in another zone than their center. */
const US_ELSEWHERE: Readonly<Record<string, string>> = {
  'America/Adak': '99546 99547',
  'Pacific/Pago_Pago': '96799',
  'Pacific/Palau': '96939 96940',
  'Pacific/Pohnpei': '96941',
  'Pacific/Chuuk': '96942 96943',
  'Pacific/Kosrae': '96944',
  'Pacific/Majuro': '96960 96970',
};

/** Entered in forms by people without a ZIP code. By its center it would be Ketchikan. */
const PLACEHOLDER = '99999';

/**
 * The zones of Canadian postal codes by prefix; the longest listed one counts. A prefix is listed
 * when it differs from its letter. P8 and P9 are Ontario west of Lake Superior; P0 has both sides.
 */
const CANADA: Readonly<Record<string, string>> = {
  'America/St_Johns': 'A A0K',
  'America/Goose_Bay': 'A0K A0P A0R A2V',
  'America/Halifax': 'B C E G4T',
  'America/Blanc-Sablon': 'G0G',
  'America/Toronto': 'G G0G H J K L M N P P1 P2 P3 P4 P5 P6 P7 X X0A',
  'America/Winnipeg': 'P P8 P9 R S0P X X0A X0C',
  'America/Regina': 'S S0P',
  'America/Edmonton': 'S9V T V0A V0B V1A V1C X X0B X0E X0G X1A',
  'America/Vancouver': 'V V0B V0C',
  'America/Creston': 'V0B',
  'America/Dawson_Creek': 'V0C V1G V1J',
  'America/Atikokan': 'X0C',
  'America/Whitehorse': 'V0W Y',
};

const NONE: readonly string[] = [];

/** Names by whole US code, by sorting center and by Canadian prefix. */
interface CodeTable {
  elsewhere: ReadonlyMap<string, readonly string[]>;
  centers: ReadonlyMap<string, readonly string[]>;
  canada: ReadonlyMap<string, readonly string[]>;
}

/** Names by code, center or prefix. */
export function invertTable(
  table: Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly string[]> {
  const namesByCode = new Map<string, string[]>();
  for (const [name, list] of Object.entries(table)) {
    for (const range of list.split(' ')) {
      for (const code of expandRange(range))
        namesByCode.set(code, [...(namesByCode.get(code) ?? []), name]);
    }
  }
  return namesByCode;
}

function expandRange(range: string): string[] {
  const [from, to] = range.split('-');
  if (from === undefined || to === undefined) return [range];
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, n) =>
    String(Number(from) + n).padStart(3, '0'),
  );
}

const ZONES: CodeTable = {
  elsewhere: invertTable(US_ELSEWHERE),
  centers: invertTable(US_CENTERS),
  canada: invertTable(CANADA),
};

// Not four digits: a code without its leading zero looks like one without its end.
const US_CODE = /^(\d{3})(?:\d\d(?:[- ]?\d{4})?)?$/;
const CANADIAN_CODE = /^[A-Z](?:\d[A-Z](?:[- ]?\d[A-Z]\d)?)?$/;

/**
 * The names in a table for a US ZIP code (whole, with its +4, or its first three digits) or a
 * Canadian postal code (whole, its first three characters, or its letter); none when it is neither.
 */
export function findByZip(zip: string, table: CodeTable): readonly string[] {
  const code = zip.trim().toUpperCase();
  const center = US_CODE.exec(code)?.[1];
  if (center !== undefined) {
    const whole = code.slice(0, 5);
    if (whole === PLACEHOLDER) return NONE;
    return table.elsewhere.get(whole) ?? table.centers.get(center) ?? NONE;
  }
  if (!CANADIAN_CODE.test(code)) return NONE;
  const prefixes = [code.slice(0, 3), code.slice(0, 2), code.slice(0, 1)];
  return prefixes.map((prefix) => table.canada.get(prefix)).find(Boolean) ?? NONE;
}

/** The zones of a ZIP or postal code. */
export const zipZones = (zip: string): readonly string[] => findByZip(zip, ZONES);
