import { sql, statement } from '../../../data/sql';

// The directory of a distributed installation: the cell of each company, and the company of each
// key by which requests name it. Every node has all of it (reference tables).

export const MAKE_DIRECTORY = [
  sql`CREATE SCHEMA IF NOT EXISTS directory`,
  sql`
    CREATE TABLE IF NOT EXISTS directory.cells (
      id int PRIMARY KEY,
      name text NOT NULL UNIQUE,
      -- filling, filled: the database is being distributed; open: in use; moving: to another node
      state text NOT NULL CHECK (state IN ('filling', 'filled', 'open', 'moving')),
      -- false: it is for a company that has a cell of its own
      takes_companies boolean NOT NULL DEFAULT true
    )`,
  sql`
    CREATE TABLE IF NOT EXISTS directory.companies (
      company_id bigint PRIMARY KEY,
      cell_id int NOT NULL REFERENCES directory.cells (id),
      -- the cell that its rows are copied to: it cannot be used meanwhile
      moves_to int REFERENCES directory.cells (id),
      -- the cell that still has rows of it from before
      left_cell int REFERENCES directory.cells (id),
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

/**
 * Tables of the directory that are not reference tables yet, in the order of their foreign keys.
 */
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

/** Stand-in for the directory while statements are checked. */
export const DIRECTORY = sql`
  CREATE SCHEMA IF NOT EXISTS directory;
  CREATE TABLE IF NOT EXISTS directory.cells (
    id int PRIMARY KEY, name text NOT NULL UNIQUE, state text NOT NULL,
    takes_companies boolean NOT NULL DEFAULT true
  );
  CREATE TABLE IF NOT EXISTS directory.companies (
    company_id bigint PRIMARY KEY, cell_id int NOT NULL, moves_to int, left_cell int,
    changed_at timestamptz NOT NULL
  );
  CREATE TABLE IF NOT EXISTS directory.keys (
    kind text NOT NULL, key text NOT NULL, company_id bigint NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (kind, key)
  );
`;

export const LIST_CELLS = statement(
  'cells.list_cells',
  sql`
    SELECT c.id, c.name, c.state, c.takes_companies, count(m.company_id)::int AS companies
    FROM directory.cells c
    LEFT JOIN directory.companies m ON m.cell_id = c.id
    GROUP BY c.id, c.name, c.state, c.takes_companies
    ORDER BY c.id
  `,
  { prepared: false, needs: DIRECTORY },
).returning<{ id: number; name: string; state: string; takes_companies: boolean }>();

export const SAVE_CELL = statement(
  'cells.save_cell',
  sql`
    INSERT INTO directory.cells (id, name, state, takes_companies)
    VALUES ({id}::int, {name}, {state}, {takes_companies}::boolean)
    ON CONFLICT (id) DO UPDATE SET state = excluded.state
  `,
  { prepared: false, needs: DIRECTORY },
);

/** Assigns no further company to a cell. */
export const CLOSE_CELL = statement(
  'cells.close_cell',
  sql`UPDATE directory.cells SET takes_companies = false WHERE id = {id}::int`,
  { prepared: false, needs: DIRECTORY },
);

export const FORGET_CELL = statement(
  'cells.forget_cell',
  sql`DELETE FROM directory.cells WHERE id = {id}::int`,
  { prepared: false, needs: DIRECTORY },
);

export const NEXT_CELL = statement(
  'cells.next_cell',
  sql`SELECT (coalesce(max(id), 0) + 1)::int AS id FROM directory.cells`,
  { prepared: false, needs: DIRECTORY },
);

export const SAVE_COMPANY = statement(
  'cells.save_company',
  sql`
    INSERT INTO directory.companies (company_id, cell_id, changed_at)
    VALUES ({company_id}::bigint, {cell_id}::int, clock_timestamp())
    ON CONFLICT (company_id) DO NOTHING
  `,
  { prepared: false, needs: DIRECTORY },
);

/**
 * Records the cell of a company, the one that its rows are copied to, and the one that still has
 * rows.
 */
export const PLACE_COMPANY = statement(
  'cells.place_company',
  sql`
    UPDATE directory.companies
    SET cell_id = {cell_id}::int, moves_to = {moves_to}::int, left_cell = {left_cell}::int,
      changed_at = now()
    WHERE company_id = {company_id}::bigint
  `,
  { prepared: false, needs: DIRECTORY },
);

export const LIST_COMPANIES_OF = statement(
  'cells.list_companies_of',
  sql`
    SELECT company_id
    FROM directory.companies
    WHERE cell_id = {cell_id}::int
    ORDER BY company_id
  `,
  { prepared: false, needs: DIRECTORY },
).returning<{ company_id: string }>();

export const FORGET_COMPANIES = statement(
  'cells.forget_companies',
  sql`DELETE FROM directory.companies WHERE cell_id = {cell_id}::int`,
  { prepared: false, needs: DIRECTORY },
);

export const LIST_MOVING_COMPANIES = statement(
  'cells.list_moving_companies',
  sql`
    SELECT company_id, cell_id, moves_to, left_cell
    FROM directory.companies
    WHERE moves_to IS NOT NULL OR left_cell IS NOT NULL
    ORDER BY company_id
  `,
  { prepared: false, needs: DIRECTORY },
).returning<{ company_id: string; cell_id: number }>();

/** The company of a key, and its cell. */
export const FIND_KEY = statement(
  'cells.find_key',
  sql`
    SELECT k.company_id, m.cell_id, m.moves_to IS NOT NULL AS moves
    FROM directory.keys k
    JOIN directory.companies m ON m.company_id = k.company_id
    WHERE k.kind = {kind} AND k.key = {key}
  `,
  { prepared: false, needs: DIRECTORY },
).returning<{ company_id: string; cell_id: number; moves: boolean }>();

export const FIND_COMPANY = statement(
  'cells.find_company',
  sql`
    SELECT m.cell_id, m.moves_to IS NOT NULL AS moves
    FROM directory.companies m
    WHERE m.company_id = {company_id}::bigint
  `,
  { prepared: false, needs: DIRECTORY },
).returning<{ cell_id: number; moves: boolean }>();

/**
 * Registers a key for a company, unless it is another's. Returns its owner. Claiming a key again
 * protects it from RELEASE_KEY and DELETE_KEY.
 */
export const CLAIM_KEY = statement(
  'cells.claim_key',
  sql`
    INSERT INTO directory.keys AS known (kind, key, company_id)
    VALUES ({kind}, {key}, {company_id}::bigint)
    ON CONFLICT (kind, key) DO UPDATE SET
      claimed_at = CASE
        WHEN known.company_id = excluded.company_id THEN excluded.claimed_at
        ELSE known.claimed_at
      END
    RETURNING company_id
  `,
  { prepared: false, needs: DIRECTORY },
).returning<{ company_id: string }>();

/**
 * Frees a key that its company no longer has. A key claimed within the last minute may be about to
 * be written again: housekeeping releases it if it was not.
 */
export const RELEASE_KEY = statement(
  'cells.release_key',
  sql`
    DELETE FROM directory.keys
    WHERE kind = {kind} AND key = {key} AND company_id = {company_id}::bigint
      AND claimed_at < now() - interval '1 minute'
  `,
  { prepared: false, needs: DIRECTORY },
);

/** Keys of a cell's companies that were claimed more than an hour ago, in order. */
export const LIST_OLD_KEYS = statement(
  'cells.list_old_keys',
  sql`
    SELECT k.kind, k.key, k.company_id, k.claimed_at::text AS claimed_at
    FROM directory.keys k
    JOIN directory.companies m ON m.company_id = k.company_id
    WHERE m.cell_id = {cell_id}::int AND m.moves_to IS NULL
      AND k.claimed_at < now() - interval '1 hour'
      AND (k.kind, k.key) > ({after_kind}, {after_key})
    ORDER BY k.kind, k.key
    LIMIT {max}::int
  `,
  { prepared: false, needs: DIRECTORY },
).returning<{ kind: string; key: string; company_id: string; claimed_at: string }>();

/** Deletes a key, unless it was claimed again since it was read. */
export const DELETE_KEY = statement(
  'cells.delete_key',
  sql`
    DELETE FROM directory.keys
    WHERE kind = {kind} AND key = {key} AND claimed_at = {claimed_at}::text::timestamptz
  `,
  { prepared: false, needs: DIRECTORY },
);

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
  { prepared: false, needs: DIRECTORY },
);

/** The given keys that a record of this cell has. Run in the cell. */
export const FIND_KEPT_KEYS = statement(
  'cells.find_kept_keys',
  sql`
    SELECT x.kind, x.key
    FROM unnest({kinds}::text[], {keys}::text[], {companies}::bigint[]) AS x (kind, key, company_id)
    WHERE CASE x.kind
      WHEN 'credential' THEN EXISTS (
        SELECT FROM credential_lookups l
        WHERE l.public_key = x.key AND l.company_id = x.company_id
      )
      WHEN 'lead_token' THEN EXISTS (
        SELECT FROM lead_tokens l WHERE l.token = x.key AND l.company_id = x.company_id
      )
      WHEN 'inbound_webhook' THEN EXISTS (
        SELECT FROM inbound_webhook_lookups l
        WHERE l.vanity_uri = x.key AND l.company_id = x.company_id
      )
      ELSE EXISTS (
        SELECT FROM number_lookups l
        WHERE l.phone_number::text = x.key AND l.company_id = x.company_id
      )
    END
  `,
  { prepared: false, nullable: ['kind', 'key'] },
);
