import type { AvailableNumber } from './carrier';

interface Series {
  country: string;
  toll_free?: boolean;
  prefix: string;
  digits: number;
  first: number;
  last: number;
}

const US = (
  '201 202 206 212 213 214 215 303 305 310 312 313 314 404 407 415 469 480 503 504 512 602 612 ' +
  '617 619 646 702 704 713 718 773 801 808 901 907 917'
).split(' ');
const CA = ['204', '306', '403', '416', '418', '506', '514', '604', '613', '780', '902'];

// 555-0100 to 555-0199 of each area code are reserved for fiction. The first ten are left out: the
// sandbox gives numbers that end in 0101 to 0109 a meaning.
const american = (country: string, area: string): Series => ({
  country,
  prefix: `+1${area}55501`,
  digits: 2,
  first: 10,
  last: 99,
});
const british = (prefix: string): Series => ({
  country: 'GB',
  prefix,
  digits: 3,
  first: 0,
  last: 999,
});
const australian = (prefix: string): Series => ({
  country: 'AU',
  prefix,
  digits: 4,
  first: 0,
  last: 999,
});
const single = (country: string, number: string): Series => ({
  country,
  prefix: number.slice(0, -1),
  digits: 1,
  first: +number.at(-1)!,
  last: +number.at(-1)!,
});

/** ACMA, "Phone numbers for use in TV shows, films and creative works". */
const AU_MOBILES = (
  '570006 570156 570157 570158 570159 570110 570313 570737 571266 571491 571804 572549 572665 ' +
  '572983 573770 573087 574118 574632 575254 575789 576398 576801 577426 577644 578957 578148 ' +
  '578888 579212 579760 579455'
).split(' ');
const AU_TOLL_FREE = '160401 975707 975708 975709 975710 975711'.split(' ');

const SERIES: Series[] = [
  ...US.map((area) => american('US', area)),
  // Toll-free codes do not use 555; of 800 only this number is reserved.
  ...['844', '866', '877'].map((area) => ({ ...american('US', area), toll_free: true })),
  { ...single('US', '+18005550199'), toll_free: true },
  ...CA.map((area) => american('CA', area)),
  ...['855', '888'].map((area) => ({ ...american('CA', area), toll_free: true })),
  // Ofcom, "Telephone numbers for drama use": London, Manchester, no area, mobile, freephone.
  ...['+442079460', '+441614960', '+441632960', '+447700900'].map(british),
  { ...british('+448081570'), toll_free: true },
  ...['2', '3', '7', '8'].flatMap((area) => [
    australian(`+61${area}5550`),
    australian(`+61${area}7010`),
  ]),
  ...AU_MOBILES.map((number) => single('AU', `+61491${number}`)),
  ...AU_TOLL_FREE.map((number) => ({ ...single('AU', `+611800${number}`), toll_free: true })),
];

/**
 * Numbers that regulators reserve for fiction and that ring nowhere. Always the same numbers in the
 * same order, in which the areas alternate.
 */
export function fictionNumbers(): AvailableNumber[] {
  const longest = Math.max(...SERIES.map(({ first, last }) => last - first + 1));
  const numbers: AvailableNumber[] = [];
  for (let round = 0; round < longest; round++)
    for (const { country, toll_free = false, prefix, digits, first, last } of SERIES)
      if (first + round <= last)
        numbers.push({
          phone_number: prefix + String(first + round).padStart(digits, '0'),
          country,
          toll_free,
        });
  return numbers;
}
