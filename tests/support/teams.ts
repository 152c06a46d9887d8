import type { Api, Company, Sent } from './world';

export interface Member {
  team: number;
  email: string;
  token: string;
  api: Api;
}

/** Creates a user with a token, in a new team of their own. */
export async function member({ api }: Company, email: string, team: object = {}): Promise<Member> {
  const made = await api('post', 'access_control_lists', {
    body: { name: email, users_emails: [email], ...team },
  });
  const { body } = await api('post', 'access_tokens', {
    body: { name: email, kind: 'user_token', user_email: email },
  });
  return {
    team: made.body.access_control_list.id,
    email,
    token: body.token,
    api: withToken(api, body.token),
  };
}

export const withToken =
  (api: Api, token: string): Api =>
  (method, path, sent: Sent = {}) =>
    api(method, path, {
      ...sent,
      auth: null,
      headers: { ...sent.headers, Authorization: `Token ${token}` },
    });
