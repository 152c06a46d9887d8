import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';

export interface Outgoing {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  timeout_ms: number;
}

/** `refused_…` is what was never sent; any other reason is what the other side, or the way there, did. */
export type Answered =
  | { ok: true; code: number; body: string; headers: Record<string, string>; duration_ms: number }
  | { ok: false; reason: string; duration_ms: number };

export type GuardedRequest = (outgoing: Outgoing) => Promise<Answered>;

/** Every address of a name. */
export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

interface GuardOptions {
  /** Networks that may be reached although they are refused by default: `10.1.0.0/16`, `fd00::/8`, `127.0.0.1`. */
  allow_networks: readonly string[];
  lookup?: Lookup;
}

type Judge = (address: string) => boolean;
type Fault = { reason: string; message: string };

const BODY_BYTES = 20_000;
const CONNECTIONS_PER_ORIGIN = 10;
/** That were judged, and need not be again. */
const REMEMBERED_URLS = 1_000;
const CONNECT_MS = 10_000;
/** Node's own 250 ms for each address of a name is less than a handshake across the world takes. */
const ATTEMPT_MS = 2_000;

// IANA's special-purpose registry (https://www.iana.org/assignments/iana-ipv4-special-registry), multicast, and Azure's metadata server.
const REFUSED_IPV4 = networks(
  [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
  ].concat([
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
    '168.63.129.16/32',
  ]),
);
/** Whatever is outside of it is local, reserved, or a multicast. */
const GLOBAL_IPV6 = networks(['2000::/3']);
/** Protocol assignments (Teredo among them), documentation, and 6to4: the tunnels lead to an IPv4 address of the sender's choice. */
const REFUSED_IPV6 = networks(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Where a message ends and whom it is for is ours to say: saying it twice is how requests are smuggled. */
const OUR_HEADERS = new Set(
  [
    'host',
    'content-length',
    'transfer-encoding',
    'connection',
    'keep-alive',
    'upgrade',
    'expect',
    'te',
    'trailer',
  ].concat(['proxy-connection', 'proxy-authorization']),
);
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Ports of other protocols, which take an HTTP request for commands (https://fetch.spec.whatwg.org/#port-blocking), and port 0. */
const BAD_PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 ' +
    '513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 ' +
    '6669 6679 6697 10080'
  ).split(' '),
);

/** One list for each family: a BlockList takes every IPv4 address for one of `::/0` and of `::ffff:0:0/96`. */
function networks(cidrs: readonly string[]): Judge {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const cidr of cidrs) {
    const [, base = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(cidr.trim()) ?? [];
    const family = isIP(base);
    if (!family) throw new Error(`${cidr} is no network such as 10.1.0.0/16 or fd00::/8`);
    const longest = family === 4 ? 32 : 128;
    lists[`ipv${family as 4 | 6}`].addSubnet(
      base,
      Number(bits ?? longest),
      `ipv${family as 4 | 6}`,
    );
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && lists[`ipv${family as 4 | 6}`].check(address, `ipv${family as 4 | 6}`);
  };
}

/** Whether an address must not be connected to. */
function refusedAddress(allow_networks: readonly string[]): Judge {
  const allowed = networks(allow_networks);
  const refused: Judge = (address) => {
    const family = isIP(address);
    // A zone (fe80::1%eth0) is only written for addresses of a local link.
    if (family === 0 || address.includes('%')) return true;
    if (family === 4) return REFUSED_IPV4(address) && !allowed(address);
    const inner = embeddedIpv4(address);
    if (inner) return refused(inner);
    return (!GLOBAL_IPV6(address) || REFUSED_IPV6(address)) && !allowed(address);
  };
  return refused;
}

/** The IPv4 address that an IPv4-mapped (`::ffff:0:0/96`) or a NAT64 (`64:ff9b::/96`) address stands for. */
function embeddedIpv4(address: string): string | undefined {
  const groups = groupsOf(address);
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

/** The eight groups of an IPv6 address; URL writes a dotted end (`::ffff:127.0.0.1`) as groups. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => parseInt(group, 16));
  const [first, last] = [read(head), read(tail ?? '')];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

/** URL has canonicalised the host: `0x7f.1`, `2130706433` and `①②⑦.0.0.1` are 127.0.0.1 here. */
function judgeUrl(text: string, refused: Judge): Fault | URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    return { reason: 'refused_url', message: 'must be an http or https URL' };
  if (url.username || url.password)
    return { reason: 'refused_url', message: 'must not hold a user name or password' };
  if (BAD_PORTS.has(url.port))
    return { reason: 'refused_url', message: `must not lead to port ${url.port}` };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // The name is judged as what it stands for; whether it does here, the lookup tells.
  const addresses = /(^|\.)localhost\.*$/.test(host)
    ? ['127.0.0.1', '::1']
    : isIP(host)
      ? [host]
      : [];
  if (addresses.length === 0 || !addresses.every(refused)) return url;
  return {
    reason: 'refused_address',
    message: 'must not lead to a local, private or reserved address',
  };
}

/**
 * What is wrong with a URL as far as can be told without DNS, in words that follow the name of a field; undefined when it may be saved.
 * Throws for an `allow_networks` that is none.
 */
export function refusedUrl(url: string, allow_networks: readonly string[]): string | undefined {
  const judged = judgeUrl(url, refusedAddress(allow_networks));
  return judged instanceof URL ? undefined : judged.message;
}

/** What is wrong with the headers a customer typed; undefined when they may be saved. */
export function refusedHeaders(headers: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name))
      return `must not have the header ${JSON.stringify(name)}: that is no name of a header`;
    if (OUR_HEADERS.has(name.toLowerCase()))
      return `must not have the header ${name}: it is set by the service`;
    if (!HEADER_VALUE.test(value))
      return `must not have line breaks or characters beyond Latin-1 in the header ${name}`;
  }
  return undefined;
}

/**
 * The lookup of a connection: what it hands on is what was judged, so that a name cannot lead elsewhere between the two. One refused
 * address refuses the name.
 */
function guardedLookup(lookup: Lookup, refused: Judge): LookupFunction {
  const judged = async (hostname: string) => {
    const addresses = await lookup(hostname);
    if (addresses.length === 0) throw coded('ENOTFOUND');
    if (addresses.some(({ address }) => refused(address))) throw coded('refused_address');
    return addresses;
  };
  return (hostname, { all }, callback) => {
    judged(hostname).then(
      (addresses) =>
        all
          ? callback(null, addresses)
          : callback(null, addresses[0]!.address, addresses[0]!.family),
      (error) => callback(error, ''),
    );
  };
}

const coded = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

/**
 * Requests to URLs that a customer typed: none reaches a network that is not the internet's, by whatever spelling, name or change of a name.
 * Never rejects. A redirect is an answer like any other. Of a body 20 kB are read.
 */
export function guardedRequest({
  allow_networks,
  lookup = (name) => systemLookup(name, { all: true }),
}: GuardOptions): GuardedRequest & {
  /** Waits for the requests under way. */
  close(): Promise<void>;
} {
  const refused = refusedAddress(allow_networks);
  const agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    // Each request has a limit of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    // A lookup is not asked about an address: those are judged with the URL.
    connect: {
      timeout: CONNECT_MS,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
      lookup: guardedLookup(lookup, refused),
    },
  });
  const judge = remembering((url) => judgeUrl(url, refused));
  const running = new Set<Promise<Answered>>();
  const send = (outgoing: Outgoing): Promise<Answered> => {
    const answer = answerTo(outgoing, agent, judge).finally(() => running.delete(answer));
    running.add(answer);
    return answer;
  };
  const close = async () => {
    await Promise.all(running);
    await agent.destroy();
  };
  return Object.assign(send, { close });
}

/** A URL is judged without DNS: what is found stays true. */
function remembering(judge: (url: string) => Fault | URL): (url: string) => Fault | URL {
  const judged = new Map<string, Fault | URL>();
  return (url) => {
    const known = judged.get(url);
    if (known) return known;
    if (judged.size >= REMEMBERED_URLS) judged.clear();
    const found = judge(url);
    judged.set(url, found);
    return found;
  };
}

async function answerTo(
  outgoing: Outgoing,
  agent: Agent,
  judge: (url: string) => Fault | URL,
): Promise<Answered> {
  const started = performance.now();
  const duration = () => Math.round(performance.now() - started);
  const judged = judge(outgoing.url);
  if (!(judged instanceof URL))
    return { ok: false, reason: judged.reason, duration_ms: duration() };
  const method = outgoing.method.toUpperCase() as Dispatcher.HttpMethod;
  if (!METHODS.has(method)) return { ok: false, reason: 'refused_method', duration_ms: duration() };
  if (refusedHeaders(outgoing.headers))
    return { ok: false, reason: 'refused_header', duration_ms: duration() };
  try {
    const { headers, body, timeout_ms } = outgoing;
    const path = `${judged.pathname}${judged.search}`;
    const answer = await exchange(
      agent,
      { origin: judged.origin, path, method, headers, body },
      timeout_ms,
    );
    return { ok: true, ...answer, duration_ms: duration() };
  } catch (error) {
    return { ok: false, reason: reasonOf(error), duration_ms: duration() };
  }
}

/**
 * One request, and the beginning of what is answered. Written for undici's dispatcher, without its streams and signals: of a webhook one delivery waits
 * for the one before. The limit holds for all of it, the wait for a connection too.
 */
function exchange(
  agent: Agent,
  request: Dispatcher.DispatchOptions,
  timeout_ms: number,
): Promise<{ code: number; body: string; headers: Record<string, string> }> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    let [code, bytes] = [0, 0];
    let headers: Record<string, string> = {};
    let under_way: Dispatcher.DispatchController | undefined;
    let expired: Error | undefined;
    const limit = setTimeout(() => {
      expired = coded('ETIMEDOUT');
      under_way?.abort(expired);
      fail(expired);
    }, timeout_ms);
    const answer = () => {
      clearTimeout(limit);
      resolve({ code, headers, body: textOf(pieces, bytes) });
    };
    const fail = (error: Error) => {
      clearTimeout(limit);
      reject(error);
    };
    agent.dispatch(request, {
      onRequestStart: (controller) => {
        under_way = controller;
        if (expired) controller.abort(expired);
      },
      onResponseStart: (_, status, fields) => {
        if (status >= 200) [code, headers] = [status, flat(fields)];
      },
      onResponseData: (controller, piece) => {
        if (bytes > BODY_BYTES) return;
        pieces.push(piece);
        bytes += piece.length;
        if (bytes <= BODY_BYTES) return;
        answer();
        // Closes the connection: the rest is not read.
        controller.abort(coded('ECONNABORTED'));
      },
      onResponseEnd: answer,
      onResponseError: (_, error) => fail(error),
    });
  });
}

const flat = (fields: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );

/** In a stream a character that was cut in two is left out. */
const textOf = (pieces: readonly Uint8Array[], bytes: number): string =>
  new TextDecoder().decode(Buffer.concat(pieces).subarray(0, BODY_BYTES), {
    stream: bytes > BODY_BYTES,
  });

const REASONS = new Map([
  ['refused_address', 'refused_address'],
  ['ETIMEDOUT', 'timeout'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection closed'],
  ['EPIPE', 'connection closed'],
  ['UND_ERR_SOCKET', 'connection closed'],
  ['ENOTFOUND', 'name not found'],
  ['EAI_AGAIN', 'name not found'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
]);

function reasonOf(error: unknown): string {
  const { name, code = '' } = error as NodeJS.ErrnoException;
  // Not every one of the parser's errors has a code.
  if (name === 'HTTPParserError' || /^UND_ERR_(HEADERS_OVERFLOW|RES_|RESPONSE)/.test(code))
    return 'invalid response';
  if (/CERT|SSL|TLS|UNABLE_TO/.test(code)) return 'no secure connection';
  return REASONS.get(code) ?? 'request failed';
}
