import { BlockList, isIP } from 'node:net';

export type AddressTest = (address: string) => boolean;

// IANA's special-purpose registry
// (https://www.iana.org/assignments/iana-ipv4-special-registry), multicast, and the metadata server
// of Azure.
const REFUSED_IPV4 = createNetworkTest([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);
/** All other IPv6 addresses are local, reserved or multicast. */
const GLOBAL_IPV6 = createNetworkTest(['2000::/3']);
/**
 * Protocol assignments (including Teredo), documentation, and 6to4. Teredo and 6to4 are tunnels to
 * an IPv4 address that the sender chooses.
 */
const REFUSED_IPV6 = createNetworkTest(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/**
 * Returns a test for addresses in these networks. Throws for a text that is not a network. There is
 * one list for each family: a BlockList counts every IPv4 address as part of `::/0` and of
 * `::ffff:0:0/96`.
 */
function createNetworkTest(cidrs: readonly string[]): AddressTest {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const cidr of cidrs) {
    const [, base = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(cidr.trim()) ?? [];
    const family = detectFamily(base);
    if (!family) throw new Error(`${cidr} is not a network such as 10.1.0.0/16 or fd00::/8`);
    const allBits = family === 'ipv4' ? 32 : 128;
    lists[family].addSubnet(base, Number(bits ?? allBits), family);
  }
  return (address) => {
    const family = detectFamily(address);
    return family !== undefined && lists[family].check(address, family);
  };
}

function detectFamily(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}

/**
 * Returns a test for addresses that are refused: those outside the internet, except in
 * `allow_networks`. Throws for an `allow_networks` that is not a network.
 */
export function createAddressTest(allowNetworks: readonly string[]): AddressTest {
  const allowed = createNetworkTest(allowNetworks);
  const refused: AddressTest = (address) => {
    const family = detectFamily(address);
    // A zone (fe80::1%eth0) is only written for link-local addresses.
    if (family === undefined || address.includes('%')) return true;
    if (family === 'ipv4') return REFUSED_IPV4(address) && !allowed(address);
    const inner = extractIpv4(address);
    if (inner) return refused(inner);
    return (!GLOBAL_IPV6(address) || REFUSED_IPV6(address)) && !allowed(address);
  };
  return refused;
}

/**
 * The IPv4 address that an IPv4-mapped (`::ffff:0:0/96`) or a NAT64 (`64:ff9b::/96`) address stands
 * for; undefined for others.
 */
function extractIpv4(address: string): string | undefined {
  const groups = parseGroups(address);
  const prefix = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':');
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return undefined;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** The eight groups of an IPv6 address. URL turns a dotted end (`::ffff:127.0.0.1`) into groups. */
function parseGroups(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => parseInt(group, 16));
  const [first, last] = [read(head), read(tail ?? '')];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}
