import { commonColumns, type Projection } from '../../data/projection/projection';

export const projection = {
  schema: 'AccessToken',
  singular: 'access_token',
  plural: 'access_tokens',
  joins: { u: 'LEFT JOIN users u ON u.company_id = t.company_id AND u.id = t.user_id' },
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.public_key, ''))`,
  columns: {
    ...commonColumns('access_tokens'),
    // Credentials are created and revoked, never edited.
    routes_edit_path: 'NULL::text',
    type: `'AccessToken'`,
    name: true,
    kind: true,
    public_key: true,
    permissions: `coalesce(t.permissions, '{}')`,
    superuser: `coalesce(t.superuser, false)`,
    user_id: true,
    user_email: 'u.email',
    expires_at: true,
  },
} as const satisfies Projection<'AccessToken', 'access_token', 'access_tokens'>;
