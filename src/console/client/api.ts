import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from '../../generated/openapi';

export type Schemas = components['schemas'];
export type Scope = Schemas['Scope'];
export type Me = Schemas['Me'];
export type Api = Client<paths>;

export const API = '/api/v1';

/** A client with these credentials; `onRefused` is called when they are no longer accepted. */
export function openApi(authorization: string, onRefused: () => void): Api {
  const api = createClient<paths>({
    baseUrl: API,
    headers: { Authorization: authorization },
    // The browser would show a password prompt of its own.
    credentials: 'omit',
    querySerializer: { array: { style: 'form', explode: false } },
  });
  api.use({
    onResponse: ({ response }) => {
      if (response.status === 401) onRefused();
    },
  });
  return api;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Schemas['Problem'] | undefined,
  ) {
    super(problem?.detail ?? `The server answered ${status}.`);
  }

  /** The record was changed since it was read. */
  get isOutdated(): boolean {
    return this.status === 412;
  }
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer; throws ApiError for one that is not a success. */
export async function ok<T>(answer: Promise<Answer<T>>): Promise<T> {
  return (await withTag(answer)).data;
}

/** Like `ok`, with the checksum of the record for If-Match. */
export async function withTag<T>(answer: Promise<Answer<T>>): Promise<{ data: T; tag: string }> {
  const { data, error, response } = await answer;
  if (!response.ok || data === undefined)
    throw new ApiError(response.status, error as Schemas['Problem'] | undefined);
  return { data, tag: response.headers.get('ETag') ?? '' };
}
