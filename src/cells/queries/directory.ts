import { sql, statement } from '../../db/sql';

// The directory of a distributed installation: which cell a company is in, and which company a key
// belongs to that requests name it by. Every node has all of it (reference tables).

export const MAKE_DIRECTORY = [
  sql`CREATE SCHEMA IF NOT EXISTS directory`,
  sql`
    CREATE TABLE IF NOT EXISTS directory.cells (
      id int PRIMARY KEY,
      name text NOT NULL UNIQUE,
      -- filling, filled: the database is being distributed; open: in use; moving: to another node
      state text NOT NULL CHECK (state IN ('filling', 'filled', 'open', 'moving'))
    )`,
  sql`
    CREATE TABLE IF NOT EXISTS directory.companies (
      company_id bigint PRIMARY KEY,
      cell_id int NOT NULL REFERENCES directory.cells (id),
      changed_at timestamptz NOT NULL
    )`,
  sql`
    CREATE TABLE IF NOT EXISTS directory.keys (
      kind text NOT NULL,
      key text NOT NULL,
      company_id bigint NOT NULL,
      claimed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (kind, key)
    )`,
];

/** The tables of the directory that are not reference tables yet, in the order of their keys. */
export const LIST_LOCAL_DIRECTORY = statement(
  'cells.list_local_directory',
  sql`
    SELECT format('SELECT create_reference_table(%L)', 'directory.' || x.name) AS command
    FROM (VALUES (1, 'cells'), (2, 'companies'), (3, 'keys')) AS x (n, name)
    WHERE NOT EXISTS (
      SELECT FROM pg_dist_partition p WHERE p.logicalrelid = ('directory.' || x.name)::regclass
    )
    ORDER BY x.n
  `,
  {
    prepared: false,
    needs: sql`CREATE TEMP TABLE IF NOT EXISTS pg_dist_partition (logicalrelid regclass)`,
  },
);

const TABLES = sql`
  CREATE SCHEMA IF NOT EXISTS directory;
  CREATE TABLE IF NOT EXISTS directory.cells (
    id int PRIMARY KEY, name text NOT NULL UNIQUE, state text NOT NULL
  );
  CREATE TABLE IF NOT EXISTS directory.companies (
    company_id bigint PRIMARY KEY, cell_id int NOT NULL
  );
  ALTER TABLE directory.companies ADD COLUMN IF NOT EXISTS changed_at timestamptz NOT NULL;
  CREATE TABLE IF NOT EXISTS directory.keys (
    kind text NOT NULL, key text NOT NULL, company_id bigint NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (kind, key)
  );
`;

export const LIST_CELLS = statement(
  'cells.list_cells',
  sql`
    SELECT c.id, c.name, c.state, count(m.company_id)::int AS companies
    FROM directory.cells c
    LEFT JOIN directory.companies m ON m.cell_id = c.id
    GROUP BY c.id, c.name, c.state
    ORDER BY c.id
  `,
  { prepared: false, needs: TABLES },
).returning<{ id: number; name: string; state: string }>();

export const SAVE_CELL = statement(
  'cells.save_cell',
  sql`
    INSERT INTO directory.cells (id, name, state)
    VALUES ({id}::int, {name}, {state})
    ON CONFLICT (id) DO UPDATE SET state = excluded.state
  `,
  { prepared: false, needs: TABLES },
);

export const SAVE_COMPANY = statement(
  'cells.save_company',
  sql`
    INSERT INTO directory.companies (company_id, cell_id, changed_at)
    VALUES ({company_id}::bigint, {cell_id}::int, clock_timestamp())
    ON CONFLICT (company_id) DO UPDATE
    SET cell_id = excluded.cell_id, changed_at = excluded.changed_at
  `,
  { prepared: false, needs: TABLES },
);

/** Whose key it is, and where that company is. */
export const FIND_KEY = statement(
  'cells.find_key',
  sql`
    SELECT k.company_id, m.cell_id
    FROM directory.keys k
    JOIN directory.companies m ON m.company_id = k.company_id
    WHERE k.kind = {kind} AND k.key = {key}
  `,
  { prepared: false, needs: TABLES },
).returning<{ company_id: string; cell_id: number }>();

export const FIND_COMPANY = statement(
  'cells.find_company',
  sql`
    SELECT m.cell_id
    FROM directory.companies m
    WHERE m.company_id = {company_id}::bigint
  `,
  { prepared: false, needs: TABLES },
).returning<{ cell_id: number }>();

/** Makes a key that of a company, unless it is another's. Returns whose it is then. */
export const CLAIM_KEY = statement(
  'cells.claim_key',
  sql`
    INSERT INTO directory.keys AS known (kind, key, company_id)
    VALUES ({kind}, {key}, {company_id}::bigint)
    ON CONFLICT (kind, key) DO UPDATE SET company_id = known.company_id
    RETURNING company_id
  `,
  { prepared: false, needs: TABLES },
).returning<{ company_id: string }>();

export const RELEASE_KEY = statement(
  'cells.release_key',
  sql`
    DELETE FROM directory.keys
    WHERE kind = {kind} AND key = {key} AND company_id = {company_id}::bigint
  `,
  { prepared: false, needs: TABLES },
);

/** All keys of the installation that is being distributed. */
export const COPY_KEYS = statement(
  'cells.copy_keys',
  sql`
    INSERT INTO directory.keys (kind, key, company_id)
    SELECT 'credential', public_key, company_id FROM public.credential_lookups
    UNION ALL
    SELECT 'lead_token', token, company_id FROM public.lead_tokens
    UNION ALL
    SELECT 'inbound_webhook', vanity_uri, company_id FROM public.inbound_webhook_lookups
    UNION ALL
    SELECT 'number', phone_number::text, company_id FROM public.number_lookups
    ON CONFLICT DO NOTHING
  `,
  { prepared: false, needs: TABLES },
);
