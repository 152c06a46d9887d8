import fc from 'fast-check';
import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max';
import { numberReader } from '../../../src/data/phone/parse-number';

describe('a telephone number', () => {
  const joined = (parts: fc.Arbitrary<string>[]) =>
    fc.tuple(...parts).map((texts) => texts.join(''));
  const digits = (n: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: n, maxLength: n });
  const punctuation = fc.string({ unit: fc.constantFrom(...' -.()'), maxLength: 3 });
  const spelled = joined([
    fc.constantFrom('', '1', '+1', '+ 1', '+', '(+1)', "'", '11', '0', '+44', '44'),
    punctuation,
    digits(3),
    punctuation,
    digits(3),
    punctuation,
    digits(4),
    punctuation,
  ]);
  const jumbled = fc.string({ unit: fc.constantFrom(...'0123456789+ -.()'), maxLength: 20 });

  test.each(['US', 'CA', 'GB', 'DE'])(
    'is read on the fast path exactly as libphonenumber reads it, in %s',
    (country) => {
      const read = numberReader(country);
      const slow = (text: string) => {
        const phoneNumber = parsePhoneNumberFromString(text.trim().replace(/^'/, ''), {
          defaultCountry: country as CountryCode,
          extract: false,
        });
        return phoneNumber?.isPossible() ? Number(phoneNumber.number.slice(1)) : undefined;
      };
      fc.assert(
        fc.property(fc.oneof(spelled, jumbled), (text) => {
          // Floats, and 00 for the plus, are read where the library cannot.
          fc.pre(!/^'?\s*00|\d\.0{1,2}\s*$/.test(text));
          expect(read(text)).toBe(slow(text));
        }),
        { numRuns: 3_000 * Number(process.env.FUZZ_TIMES ?? 1) },
      );
    },
  );

  test('may be written in any way, and is rejected when it is not possible', () => {
    const read = numberReader('US');
    for (const text of [
      '3105550123',
      '310-555-0123',
      '(310) 555 0123',
      '1 310 555 0123',
      '+13105550123',
      '+1 (310) 555-0123',
      "'+13105550123",
      ' 310.555.0123 ',
    ]) {
      expect(read(text)).toBe(13105550123);
    }
    expect(read('+44 20 7946 0958')).toBe(442079460958);
    expect(numberReader('GB')('020 7946 0958')).toBe(442079460958);
    for (const text of [
      '',
      'abc',
      '911',
      '555-0123',
      '1234567890123456',
      '+',
      '3105550123;ext',
      'call 3105550123',
      '1.31E+10',
      '０'.repeat(300),
    ]) {
      expect(read(text)).toBeUndefined();
    }
  });
});
