import { findDestinationFault, findHostFault } from '../../../src/domain/people/destinations';
import { LITERALS } from '../../support/refused-hosts';

const US = { country: 'US', contact_countries: null, contact_prefixes: [], sip_hosts: [] };
const PBX = { ...US, sip_hosts: ['pbx.example.com', '*.carrier.example.com', '8.8.4.4'] };
const UNLISTED = 'leads to a SIP host that is not among the sip_hosts of the company';
const PREMIUM = 'is of a satellite, or at a premium rate';

test.each([
  ['+13105550123', undefined],
  ['+18005550123', undefined],
  ['+19005550123', PREMIUM],
  ['+88213123456', PREMIUM],
  ['+870773123456', PREMIUM],
  ['+442079460123', 'is in the country GB, where the company contacts nobody'],
  ['tel:+13105550123', 'is neither + and digits nor a SIP address'],
  ['sip:desk@pbx.example.com', UNLISTED],
])('the company of a bidder alone decides about %s', (destination, fault) => {
  expect(findDestinationFault(destination, US)).toBe(fault);
});

test('shared-cost numbers are refused where their country is allowed', () => {
  const policy = { ...US, contact_countries: ['AU', 'DE'] };
  for (const number of ['+611300123456', '+491805123456'])
    expect(findDestinationFault(number, policy)).toBe('is at a shared-cost rate');
  expect(findDestinationFault('+611300123456', { ...policy, contact_prefixes: ['61130'] })).toBe(
    undefined,
  );
});

test.each([
  'sip:desk@pbx.example.com',
  'sips:desk@PBX.example.com:5061',
  'sip:desk@pbx.example.com.',
  'sip:desk@pbx.example.com;transport=tls',
  'sip:desk@a.b.carrier.example.com',
  'sip:desk@8.8.4.4',
  'sip:+13105550123@pbx.example.com',
  'sip:4711@pbx.example.com',
])('%s leads to a listed host', (destination) => {
  expect(findDestinationFault(destination, PBX)).toBe(undefined);
});

test.each([
  ['sip:desk@carrier.example.com', UNLISTED],
  ['sip:desk@xcarrier.example.com', UNLISTED],
  ['sip:desk@pbx.example.com.evil.example.org', UNLISTED],
  ['sip:pbx.example.com@evil.example.org', UNLISTED],
  ['sip:desk@8.8.8.8', UNLISTED],
  ['sip:desk@0x8.8.4.4', 'leads to a host in an unusual spelling'],
  ['sip:desk@134743044', 'leads to a host in an unusual spelling'],
  [
    'sip:desk@pbx.example.com;maddr=127.0.0.1',
    'names the host that it leads to in the parameter maddr',
  ],
  [
    'sip:desk@pbx.example.com;transport=udp;MADDR=x',
    'names the host that it leads to in the parameter maddr',
  ],
  // A gateway would call the user.
  ['sip:+19005550123@pbx.example.com', PREMIUM],
  ['sip:%2B19005550123@pbx.example.com', PREMIUM],
  ['sip:19005550123;phone-context=x@pbx.example.com;user=phone', PREMIUM],
  ['sip:+442079460123@pbx.example.com', 'is in the country GB, where the company contacts nobody'],
])('%s is refused', (destination, fault) => {
  expect(findDestinationFault(destination, PBX)).toBe(fault);
});

test('no list opens a host that is not public', () => {
  const hosts = LITERALS.filter((host) => !/[^\x20-\x7e]/.test(host));
  expect(hosts.length).toBeGreaterThan(80);
  for (const host of [...hosts, 'desk', 'printer.local', 'db.internal', 'a.test', '']) {
    const policy = { ...US, sip_hosts: [host, host.toLowerCase()] };
    expect([host, findHostFault(host)]).toEqual([host, expect.stringMatching(/^leads to /)]);
    expect([host, findDestinationFault(`sip:x@${host}`, policy, `sip:y@${host}`)]).toEqual([
      host,
      expect.any(String),
    ]);
  }
});

test('where the company itself sends calls is its own choice, and so is that SIP host', () => {
  const ownDestination = 'sip:desk@pbx.buyer.example.com';
  expect(findDestinationFault(ownDestination, US, ownDestination)).toBe(undefined);
  expect(findDestinationFault('sip:night@pbx.buyer.example.com', US, ownDestination)).toBe(
    undefined,
  );
  expect(findDestinationFault('sip:night@buyer.example.com', US, ownDestination)).toBe(UNLISTED);
  expect(findDestinationFault('+442079460123', US, '+442079460123')).toBe(undefined);
  expect(findDestinationFault('+442079460124', US, '+442079460123')).not.toBe(undefined);
});
