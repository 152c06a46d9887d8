import { noun } from '../../api/records/noun';

export const accessToken = noun({
  schema: 'AccessToken',
  singular: 'access_token',
  plural: 'access_tokens',
  names: { delete: 'revokeAccessToken' },
  joins: {
    u: 'LEFT JOIN users u ON u.company_id = t.company_id AND u.id = t.user_id',
    s: 'LEFT JOIN sessions s ON s.company_id = t.company_id AND s.access_token_id = t.id',
  },
  search: ['name', 'public_key'],
  computed: {
    // Credentials are created and revoked, never edited.
    routes_edit_path: 'NULL::text',
    permissions: `coalesce(t.permissions, '{}')`,
    superuser: `coalesce(t.superuser, false)`,
    user_email: 'u.email',
    ends_at: 's.ends_at',
    last_seen_at: 's.seen_at',
    sign_in_method: 's.method',
    second_factor: 's.second_factor',
    ip: 's.ip',
    user_agent: 's.user_agent',
  },
});
