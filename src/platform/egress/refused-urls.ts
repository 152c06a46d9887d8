import { isIP } from 'node:net';
import { createAddressTest, type AddressTest } from './refused-addresses';

export interface UrlFault {
  reason: 'refused_url' | 'refused_address';
  /** Follows the name of a field. */
  message: string;
}

/**
 * Ports of other protocols, which would take an HTTP request for commands
 * (https://fetch.spec.whatwg.org/#port-blocking), and port 0.
 */
const BAD_PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 ' +
    '110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 ' +
    '530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 ' +
    '4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
);

/** All reasons to refuse a URL; a text that is none has one alone. */
function listFaults(url: URL | undefined, refused: AddressTest): UrlFault[] {
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    return [{ reason: 'refused_url', message: 'must be an http or https URL' }];
  const faults: UrlFault[] = [];
  if (url.username || url.password)
    faults.push({ reason: 'refused_url', message: 'must not contain a user name or password' });
  if (BAD_PORTS.has(url.port))
    faults.push({ reason: 'refused_url', message: `must not lead to port ${url.port}` });
  const addresses = listLiteralAddresses(url.hostname);
  if (addresses.length > 0 && addresses.every(refused))
    faults.push({
      reason: 'refused_address',
      message: 'must not lead to a local, private or reserved address',
    });
  return faults;
}

/**
 * Parses a URL and returns it, or the reason why it is refused. No name is looked up: the address
 * that a name leads to is checked when a request connects.
 */
export function parseUrl(text: string, refused: AddressTest): UrlFault | URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return listFaults(url, refused)[0] ?? url!;
}

/**
 * The addresses that a host name stands for without a lookup. URL has made the name canonical:
 * `0x7f.1`, `2130706433` and `①②⑦.0.0.1` are `127.0.0.1` here.
 */
function listLiteralAddresses(hostname: string): string[] {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (/(^|\.)localhost\.*$/.test(host)) return ['127.0.0.1', '::1'];
  return isIP(host) ? [host] : [];
}

/**
 * Returns why a URL must not be saved, in words that follow the name of a field; undefined when it
 * may be. Throws for an `allow_networks` that is not a network.
 */
export function findUrlFault(url: string, allowNetworks: readonly string[]): string | undefined {
  const refused = createAddressTest(allowNetworks);
  const faults = listFaults(URL.canParse(url) ? new URL(url) : undefined, refused);
  return faults.map(({ message }) => message).join(', and ') || undefined;
}
