import { createRecord } from './records';
import type { Api, Company, RequestOptions } from './world';

export interface Member {
  team: number;
  email: string;
  token: string;
  api: Api;
}

/** Creates a user with a token, in a new team of their own. */
export async function createMember(
  { api }: Company,
  email: string,
  team: object = {},
): Promise<Member> {
  const grants = { name: email, users_emails: [email], ...team };
  const { id } = await createRecord(api, 'access_control_lists', grants);
  const { body } = await api('post', 'access_tokens', {
    body: { name: email, kind: 'user_token', user_email: email },
  });
  return {
    team: id,
    email,
    token: body.token,
    api: withToken(api, body.token),
  };
}

export const withToken =
  (api: Api, token: string): Api =>
  (method, path, options: RequestOptions = {}) =>
    api(method, path, {
      ...options,
      auth: null,
      headers: { ...options.headers, Authorization: `Token ${token}` },
    });
