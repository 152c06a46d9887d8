import { listPresenceHeaders } from './activity';
import { ApiError, type Problem } from './api-error';

/** Where requests go and what identifies their sender. */
export interface Transport {
  /** Path of the API: that of the signed-in session is another than that of keys. */
  base: string;
  headers: Readonly<Record<string, string>>;
  credentials: RequestCredentials;
  /** Called when the credentials are no longer accepted. */
  onRefused: () => void;
}

export type Query = Readonly<Record<string, QueryValue>>;
type QueryValue = string | number | boolean | readonly (string | number)[] | undefined;
export type Json = Record<string, unknown>;

interface SendOptions {
  query?: Query;
  body?: Json | FormData;
  tag?: string;
  /** A request that is sent again with it is carried out once. */
  idempotencyKey?: string;
}

/** An answer of the API, with the checksum of its record for If-Match. */
export interface Answer {
  data: Json;
  tag: string;
}

export const buildPath = (path: string, query: Query = {}): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
};

/**
 * Sends a request whose shape is known only while the console runs, as those of forms are. Throws
 * ApiError for an answer that is not a success.
 */
export async function send(
  transport: Transport,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  { query, body, tag, idempotencyKey }: SendOptions = {},
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const res = await fetch(transport.base + buildPath(path, query), {
    method,
    credentials: transport.credentials,
    headers: {
      ...listPresenceHeaders(),
      ...transport.headers,
      ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
      ...(tag !== undefined && tag !== '' && { 'If-Match': tag }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  if (res.status === 401) transport.onRefused();
  const data = (await res.json().catch(() => ({}))) as Json;
  if (!res.ok) throw new ApiError(res.status, data as Partial<Problem> as Problem);
  return { data, tag: res.headers.get('ETag') ?? '' };
}

/**
 * Saves an answer as a file. A signed-in session leaves it to the browser, which writes the answer
 * to the disk as it comes; requests with keys need a header, which a link cannot have.
 */
export async function download(transport: Transport, path: string, name: string): Promise<void> {
  const isLink = transport.credentials !== 'omit';
  if (isLink) return clickLink(transport.base + path, name);
  saveBlob(await (await openFile(transport, path)).blob(), name);
}

/** An answer that is read as it comes. */
export async function openFile(
  { base, headers, credentials }: Transport,
  path: string,
): Promise<Response> {
  const res = await fetch(base + path, { headers, credentials });
  if (!res.ok)
    throw new ApiError(
      res.status,
      (await res.json().catch(() => undefined)) as Problem | undefined,
    );
  return res;
}

/** Saves what the page has composed. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  clickLink(url, name);
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function clickLink(url: string, name: string): void {
  const link = document.createElement('a');
  link.setAttribute('href', url);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}
