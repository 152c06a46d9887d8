import { contactRefusal } from '../../src/phone/contact-policy';

test.each([
  ['GB', '447011234567', 'a personal number, which costs up to premium rates'],
  ['GB', '447022123456', 'the same'],
  ['US', '17005550123', 'the carrier decides what it costs'],
  ['US', '18805550123', 'a paid toll-free number'],
])('a company in %s does not contact +%s: %s', (country, number) => {
  expect(
    contactRefusal(number, { country, contact_countries: null, contact_prefixes: [] }),
  ).toBeDefined();
});
