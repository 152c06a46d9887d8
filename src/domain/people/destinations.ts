import { isIP } from 'node:net';
import type { Statements } from '../../data/db';
import { createAddressTest } from '../../platform/egress/refused-addresses';
import { contactRefusal, type ContactPolicy } from '../../data/phone/contact-policy';
import { numberReader } from '../../data/phone/parse-number';
import { READ_DESTINATION_POLICY } from './queries/company';

// Destinations of calls that are chosen by others than the company's own people: by bidders in
// their answers, and by users who are limited to records of teams. The company pays for the calls.

/** The allowed destinations of such calls. */
export interface DestinationPolicy extends ContactPolicy {
  /** Hosts of SIP addresses, in lowercase; `*.example.com` stands for all names below it. */
  sip_hosts: readonly string[];
}

/** Loads the test of destinations for limited users; it returns why one is refused. */
export async function loadDestinationTest({
  sql,
}: Pick<Statements, 'sql'>): Promise<(destination: string) => string | undefined> {
  const [policy] = await sql(READ_DESTINATION_POLICY, {});
  return (destination) => findDestinationFault(destination, policy!);
}

/**
 * Finds out why a call must not go to a telephone number or a SIP address from outside the company,
 * in words that follow it; undefined where it may. `ownDestination` is where the company itself
 * sends such calls, if it does: that destination, and its SIP host, are allowed.
 */
export function findDestinationFault(
  destination: string,
  policy: DestinationPolicy,
  ownDestination: string | null = null,
): string | undefined {
  if (destination === ownDestination) return undefined;
  if (/^\+\d+$/.test(destination)) return contactRefusal(destination.slice(1), policy);
  const sip = parseSip(destination);
  if (!sip) return 'is neither + and digits nor a SIP address';
  const { host, user, parameters } = sip;
  if (parameters.some((parameter) => /^maddr\b/i.test(parameter)))
    return 'names the host that it leads to in the parameter maddr';
  const fault = findHostFault(host);
  if (fault) return fault;
  const ownHost = ownDestination === null ? undefined : parseSip(ownDestination)?.host;
  const allowed = ownHost === undefined ? policy.sip_hosts : [...policy.sip_hosts, ownHost];
  if (!isListed(toPlainHost(host), allowed))
    return 'leads to a SIP host that is not among the sip_hosts of the company';
  // A gateway calls the number that is the user of the address, or that the user begins with.
  const read = numberReader(policy.country);
  const start = user.split(/[^\d +.()-]/, 1)[0]!;
  return [read.several(user) ?? read(start) ?? []]
    .flat()
    .map((number) => contactRefusal(number, policy))
    .find((refusal) => refusal !== undefined);
}

/** Finds out why no call may ever go to a SIP host; undefined where one may. */
export function findHostFault(host: string): string | undefined {
  const plain = toPlainHost(host);
  const address = plain.replace(/^\[|\]$/g, '');
  const isAddress = isIP(address) !== 0;
  // Spellings such as 2130706433 and 0x7f.1, which are 127.0.0.1: carriers differ in how they read
  // them.
  if (plain !== host.toLowerCase().replace(/\.$/, ''))
    return 'leads to a host in an unusual spelling';
  if (isAddress)
    return isRefused(address) ? 'leads to a local, private or reserved address' : undefined;
  return PUBLIC_NAME.test(plain) && !LOCAL_NAME.test(plain)
    ? undefined
    : 'leads to a name that is not public';
}

const isRefused = createAddressTest([]);

const PUBLIC_NAME = /^(?:[a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
/**
 * Names that are never public (RFC 6761, RFC 6762, RFC 8375, ICANN), and usual ones of private
 * networks.
 */
const LOCAL_NAME =
  /\.(?:arpa|corp|home|internal|intranet|invalid|lan|local|localdomain|localhost|mail|private|test)$/;

interface SipAddress {
  /** Without escapes. */
  user: string;
  host: string;
  /** Everything after the host and the port. */
  parameters: string[];
}

const SIP = /^sips?:([^@]*)@(\[[^\]]*\]|[^:;?]*)(?::\d+)?([;?].*)?$/i;

function parseSip(text: string): SipAddress | undefined {
  const [, user, host, rest = ''] = SIP.exec(text) ?? [];
  if (user === undefined || host === undefined) return undefined;
  return { user: unescapeUser(user), host, parameters: rest.split(/[;?&]/).slice(1) };
}

function unescapeUser(user: string): string {
  const [name = ''] = user.replace(/%3b/gi, ';').split(';');
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Normalizes a host like browsers do; blank for one that they refuse. */
function toPlainHost(host: string): string {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
}

const isListed = (host: string, listed: readonly string[]): boolean =>
  listed.some((pattern) =>
    pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === toPlainHost(pattern),
  );
