import { parseForeignJson } from '../../platform/storable-text';
import type { Schemas } from '../../platform/contract/contract-document';

// The requests of an adapter to Trunkline, which it knows by its public contract alone.

export type Session = Schemas['CallSession'];
export type DialBuyer = Session['instruction']['dial'][number];
export type CallEvent = Schemas['CallEventCreate'];
export type Command = Schemas['SwitchCommand'];

/** The result of a command. */
export type Result = { result: 'done' } | { result: 'failed'; reason: string };

/** Without a failure it was carried out. */
export const toResult = (failure?: string): Result =>
  failure === undefined ? { result: 'done' } : { result: 'failed', reason: failure };

/** An answer that will not get better by asking again. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(`the service answered ${status}: ${cutDetail(text)}`);
  }
}

const MAX_DETAIL = 300;

function cutDetail(text: string): string {
  const body = parseForeignJson(text) as { detail?: string; errors?: object } | undefined;
  const detail = JSON.stringify(body?.errors ?? body?.detail ?? 'no explanation');
  return [...detail].slice(0, MAX_DETAIL).join('');
}

/** Statuses that another time may bring a better one: they say that the service is away. */
const isTemporary = (status: number): boolean =>
  status >= 500 || [401, 403, 408, 425, 429].includes(status);

export interface ServiceSettings {
  /** With the base path. */
  url: string;
  /** A key pair, `public:private`. */
  key: string;
  /** The name of the switch. */
  name: string;
}

/** A service that is there takes far less to say how a call is. */
const READ_TIMEOUT_MS = 3_000;

export interface AskOptions {
  timeout_ms: number;
  signal?: AbortSignal | undefined;
}

/** A request got an answer, one that is final; or none that counts. */
export type Service = ReturnType<typeof openService>;

export function openService({ url, key, name }: ServiceSettings) {
  const authorization = `Basic ${Buffer.from(key).toString('base64')}`;
  const send = async (
    path: string,
    { timeout_ms, signal }: AskOptions,
    init: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
  ): Promise<unknown> => {
    const timeout = AbortSignal.timeout(timeout_ms);
    const response = await fetch(`${url}${path}`, {
      ...init,
      headers: { ...init.headers, authorization },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const text = await response.text();
    if (isTemporary(response.status)) throw new Error(`the service answered ${response.status}`);
    if (!response.ok) throw new Refused(response.status, text);
    return parseForeignJson(text);
  };
  const post = (path: string, body: object, options: AskOptions) =>
    send(path, options, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const switchPath = `/switches/${encodeURIComponent(name)}`;
  return {
    /** Posts any body; throws Refused where it will not be accepted. */
    post,
    startCall: async (call: Schemas['CallSessionCreate'], options: AskOptions) =>
      readSession(await post('/call_sessions', { ...call, switch: name }, options)),
    readCall: async (id: string) =>
      readSession(
        await send(`/call_sessions/${encodeURIComponent(id)}`, { timeout_ms: READ_TIMEOUT_MS }),
      ),
    storeRecording: (uuid: string, wav: Buffer, options: AskOptions) =>
      send(`/call_sessions/${uuid}/recording`, options, {
        method: 'PUT',
        headers: { 'content-type': 'audio/wav' },
        body: wav,
      }),
    listCommands: async (after: number | undefined, waitSeconds: number, options: AskOptions) => {
      const query = new URLSearchParams({ wait_seconds: String(waitSeconds) });
      if (after !== undefined) query.set('after', String(after));
      const answer = await send(`${switchPath}/commands?${query}`, options);
      return (answer as Schemas['SwitchCommandList']).commands;
    },
    sync: async (body: Schemas['SwitchSync'], options: AskOptions) =>
      (await post(`${switchPath}/sync`, body, options)) as Schemas['SwitchSyncReply'],
  };
}

export const buildResultPath = (name: string, commandId: number): string =>
  `/switches/${encodeURIComponent(name)}/commands/${commandId}`;

export const readSession = (answer: unknown): Session =>
  (answer as Schemas['CallSessionReply']).call_session;
