import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { inSpan, traceHeaders } from '../telemetry/tracing';
import { errorWithCode, exchange } from './exchange';
import { createAddressTest, type AddressTest } from './refused-addresses';
import { findHeaderFault } from './refused-headers';
import { parseUrl, type UrlFault } from './refused-urls';
import { createNameResolver, type Lookup } from './resolve-names';

// Requests to addresses that customers typed. Guards against server-side request forgery: a URL, a
// name or a redirect cannot lead a request into a network that is not public.

export interface OutgoingRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  timeout_ms: number;
  /**
   * A caller waits for the response: the request does not queue behind others to the same receiver.
   */
  is_urgent?: boolean;
}

/**
 * The outcome of a request. A reason `refused_…` means that it was never sent; the other reasons
 * are failures of the receiver or of the network.
 */
export type RequestOutcome =
  | { ok: true; code: number; body: string; headers: Record<string, string>; duration_ms: number }
  | { ok: false; reason: string; duration_ms: number };

export type GuardedRequest = (outgoing: OutgoingRequest) => Promise<RequestOutcome>;

interface GuardOptions {
  /** Networks that are allowed although they are not public: `10.1.0.0/16`, `fd00::/8`. */
  allow_networks: readonly string[];
  lookup?: Lookup;
}

/** There can be as many urgent requests as calls that are being routed. */
const CONNECTIONS_PER_ORIGIN = { usual: 10, urgent: 200 };
const MAX_CACHED_URLS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Time limit for each address of a name. Node's default of 250 ms is too short for a distant
 * server.
 */
const ADDRESS_TIMEOUT_MS = 2_000;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

type ParseUrl = (url: string) => UrlFault | URL;

/**
 * Creates a function that sends requests to URLs that a customer typed, and only to public
 * addresses, however the address is written and whatever a name resolves to. It never rejects.
 * Redirects are returned, not followed. At most 20 kB of a body are read.
 */
export function createGuardedRequest({
  allow_networks,
  lookup = createNameResolver(),
}: GuardOptions): GuardedRequest & {
  /** Waits for the open requests, then closes all connections. */
  close(): Promise<void>;
} {
  const refused = createAddressTest(allow_networks);
  const agentWith = (connections: number) =>
    new Agent({
      connections,
      // Each request has its own limit.
      headersTimeout: 0,
      bodyTimeout: 0,
      // The lookup is not called for literal addresses: parseUrl checks those.
      connect: {
        timeout: CONNECT_TIMEOUT_MS,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
        lookup: createGuardedLookup(lookup, refused),
      },
    });
  const usual = agentWith(CONNECTIONS_PER_ORIGIN.usual);
  const urgent = agentWith(CONNECTIONS_PER_ORIGIN.urgent);
  const parse = cacheResults((url) => parseUrl(url, refused));
  const running = new Set<Promise<RequestOutcome>>();
  const send = (outgoing: OutgoingRequest): Promise<RequestOutcome> => {
    const agent = outgoing.is_urgent ? urgent : usual;
    const answer = sendTraced(outgoing, agent, parse).finally(() => running.delete(answer));
    running.add(answer);
    return answer;
  };
  const close = async () => {
    await Promise.all(running);
    await Promise.all([usual.destroy(), urgent.destroy()]);
  };
  return Object.assign(send, { close });
}

/**
 * The lookup of a connection. It returns the addresses that it has checked, so that a name cannot
 * change between the check and the connection. One refused address refuses the name.
 */
function createGuardedLookup(lookup: Lookup, refused: AddressTest): LookupFunction {
  const findAllowed = async (hostname: string) => {
    const addresses = await lookup(hostname);
    if (addresses.length === 0) throw errorWithCode('ENOTFOUND');
    if (addresses.some(({ address }) => refused(address))) throw errorWithCode('refused_address');
    return addresses;
  };
  return (hostname, { all }, callback) => {
    findAllowed(hostname).then(
      (addresses) =>
        all
          ? callback(null, addresses)
          : callback(null, addresses[0]!.address, addresses[0]!.family),
      (error) => callback(error, ''),
    );
  };
}

/** Caches results: parsing needs no DNS, so a result stays valid. */
function cacheResults(parse: ParseUrl): ParseUrl {
  const results = new Map<string, UrlFault | URL>();
  return (url) => {
    const cachedResult = results.get(url);
    if (cachedResult) return cachedResult;
    if (results.size >= MAX_CACHED_URLS) results.clear();
    const result = parse(url);
    results.set(url, result);
    return result;
  };
}

/**
 * Sends within a span that the receiver can continue. The span has no URL, which may contain
 * personal data.
 */
const sendTraced = (
  outgoing: OutgoingRequest,
  agent: Agent,
  parse: ParseUrl,
): Promise<RequestOutcome> =>
  inSpan('request of a webhook', { kind: 'CLIENT', begins: true }, async (span) => {
    if (!span) return sendOnce(outgoing, agent, parse);
    const headers = { ...traceHeaders(), ...outgoing.headers };
    const answered = await sendOnce({ ...outgoing, headers }, agent, parse);
    span.setAttributes(
      answered.ok
        ? { 'http.response.status_code': answered.code }
        : { 'error.type': answered.reason },
    );
    return answered;
  });

async function sendOnce(
  outgoing: OutgoingRequest,
  agent: Agent,
  parse: ParseUrl,
): Promise<RequestOutcome> {
  const started = performance.now();
  const duration = () => Math.round(performance.now() - started);
  const refuse = (reason: string) => ({ ok: false as const, reason, duration_ms: duration() });
  const url = parse(outgoing.url);
  if (!(url instanceof URL)) return refuse(url.reason);
  const method = outgoing.method.toUpperCase() as Dispatcher.HttpMethod;
  if (!METHODS.has(method)) return refuse('refused_method');
  if (findHeaderFault(outgoing.headers)) return refuse('refused_header');
  const { headers, body, timeout_ms } = outgoing;
  const path = `${url.pathname}${url.search}`;
  try {
    const request = { origin: url.origin, path, method, headers, body };
    return { ok: true, ...(await exchange(agent, request, timeout_ms)), duration_ms: duration() };
  } catch (error) {
    return { ok: false, reason: toFailureReason(error), duration_ms: duration() };
  }
}

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

function toFailureReason(error: unknown): string {
  const { name, code = '' } = error as NodeJS.ErrnoException;
  // Some errors of the parser have no code.
  if (name === 'HTTPParserError' || /^UND_ERR_(HEADERS_OVERFLOW|RES_|RESPONSE)/.test(code))
    return 'invalid response';
  if (/CERT|SSL|TLS|UNABLE_TO/.test(code)) return 'no secure connection';
  return REASONS.get(code) ?? 'request failed';
}
