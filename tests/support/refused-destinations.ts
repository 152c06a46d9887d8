/** Destinations that a company of the US refuses when others name them, and why. */
export const REFUSED: [string, RegExp][] = [
  ['+19005550123', /\+19005550123 is of a satellite, or at a premium rate/],
  ['+88213123456', /satellite, or at a premium rate/],
  ['+442079460123', /is in the country GB, where the company contacts nobody/],
  ['sip:x@127.0.0.1', /leads to a local, private or reserved address/],
  ['sip:x@2130706433', /leads to a host in an unusual spelling/],
  ['sip:x@localhost', /leads to a name that is not public/],
  ['sip:x@pbx.example.org', /not among the sip_hosts of the company/],
];
