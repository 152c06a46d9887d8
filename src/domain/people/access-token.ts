import { noun } from '../../api/records/noun';

export const accessToken = noun({
  schema: 'AccessToken',
  singular: 'access_token',
  plural: 'access_tokens',
  names: { delete: 'revokeAccessToken' },
  joins: { u: 'LEFT JOIN users u ON u.company_id = t.company_id AND u.id = t.user_id' },
  search: ['name', 'public_key'],
  computed: {
    // Credentials are created and revoked, never edited.
    routes_edit_path: 'NULL::text',
    permissions: `coalesce(t.permissions, '{}')`,
    superuser: `coalesce(t.superuser, false)`,
    user_email: 'u.email',
  },
});
