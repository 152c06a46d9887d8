import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from '../../generated/openapi';
import { listPresenceHeaders } from './activity';
import { ApiError } from './api-error';
import type { Transport } from './transport';

export { ApiError };
export type Schemas = components['schemas'];
export type Scope = Schemas['Scope'];
export type Me = Schemas['Me'];
export type Api = Client<paths>;

/** The API for requests whose shape the contract's types describe. */
export function openApi({ base, headers, credentials, onRefused }: Transport): Api {
  const api = createClient<paths>({
    baseUrl: base,
    headers,
    credentials,
    querySerializer: { array: { style: 'form', explode: false } },
  });
  api.use({
    onRequest: ({ request }) => {
      for (const [name, value] of Object.entries(listPresenceHeaders()))
        request.headers.set(name, value);
    },
    onResponse: ({ response }) => {
      if (response.status === 401) onRefused();
    },
  });
  return api;
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
