import type { Client } from 'pg';

// Describes a database as lines that can be compared: one line for each table, column,
// constraint, index, sequence, function, trigger and extension of the schema "public".

export interface Item {
  kind: string;
  /** Unique within its kind, such as `calls.ended_at` of a column. */
  name: string;
  definition: string;
}

export interface Catalogs {
  /** Created by the migrations. */
  migrated: Item[];
  /** Declared by schema.prisma and prisma/sql/. */
  declared: Item[];
}

const TABLES = `
  SELECT 'table' AS kind, c.relname AS name,
    concat_ws(
      ' ',
      CASE c.relkind WHEN 'r' THEN 'table' ELSE 'relation of kind ' || c.relkind::text END,
      CASE c.relpersistence WHEN 'u' THEN 'unlogged' END,
      'with (' || array_to_string(c.reloptions, ', ') || ')'
    ) AS definition
  FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind NOT IN ('i', 'I', 'S', 'c', 't')`;

const COLUMNS = `
  SELECT 'column' AS kind, c.relname || '.' || a.attname AS name,
    concat_ws(
      ' ',
      -- The number among the columns that exist: attnum also counts those that were dropped.
      'number ' || row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum) || ':',
      format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attnotnull THEN 'not null' END,
      'default ' || pg_get_expr(d.adbin, d.adrelid),
      'generated ' || nullif(a.attgenerated::text, ''),
      'identity ' || nullif(a.attidentity::text, ''),
      'compression ' || nullif(a.attcompression::text, ''),
      CASE WHEN a.attstorage <> t.typstorage THEN 'storage ' || a.attstorage::text END,
      'statistics ' || nullif(a.attstattarget, -1),
      'with (' || array_to_string(a.attoptions, ', ') || ')'
    ) AS definition
  FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
    AND a.attnum > 0 AND NOT a.attisdropped`;

// Constraint triggers are listed as triggers, and NOT NULL as a property of its column.
const CONSTRAINTS = `
  SELECT CASE contype WHEN 'c' THEN 'CHECK' ELSE 'constraint' END AS kind,
    conrelid::regclass || '.' || conname AS name,
    pg_get_constraintdef(oid) AS definition
  FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace AND contype NOT IN ('n', 't')`;

const INDEXES = `
  SELECT 'index' AS kind, x.indrelid::regclass || '.' || c.relname AS name,
    pg_get_indexdef(c.oid) || CASE WHEN x.indisvalid THEN '' ELSE ' (invalid)' END AS definition
  FROM pg_index x
  JOIN pg_class c ON c.oid = x.indexrelid
  WHERE c.relnamespace = 'public'::regnamespace`;

const STATISTICS = `
  SELECT 'statistics' AS kind, stxname AS name, pg_get_statisticsobjdef(oid) AS definition
  FROM pg_statistic_ext
  WHERE stxnamespace = 'public'::regnamespace`;

const SEQUENCES = `
  SELECT 'sequence' AS kind, c.relname AS name,
    concat_ws(
      ' ',
      format_type(s.seqtypid, NULL), 'start', s.seqstart, 'increment', s.seqincrement,
      'from', s.seqmin, 'to', s.seqmax, 'cache', s.seqcache, CASE WHEN s.seqcycle THEN 'cycle' END,
      CASE c.relpersistence WHEN 'u' THEN 'unlogged' END,
      'owned by ' || d.refobjid::regclass || '.' || a.attname
    ) AS definition
  FROM pg_sequence s
  JOIN pg_class c ON c.oid = s.seqrelid
  LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
    AND d.deptype IN ('a', 'i') AND d.refclassid = 'pg_class'::regclass
  LEFT JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
  WHERE c.relnamespace = 'public'::regnamespace`;

const EXTENSION_OWNS = `
  EXISTS (SELECT FROM pg_depend e WHERE e.objid = p.oid AND e.deptype = 'e')`;

const FUNCTIONS = `
  SELECT 'function' AS kind,
    p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' AS name,
    CASE WHEN p.prokind IN ('f', 'p') THEN pg_get_functiondef(p.oid) ELSE p.prosrc END AS definition
  FROM pg_proc p
  WHERE p.pronamespace = 'public'::regnamespace AND NOT ${EXTENSION_OWNS}`;

// Triggers of foreign keys are internal: their constraints are listed.
const TRIGGERS = `
  SELECT 'trigger' AS kind, t.tgrelid::regclass || '.' || t.tgname AS name,
    pg_get_triggerdef(t.oid)
      || CASE t.tgenabled WHEN 'O' THEN '' ELSE ' (' || t.tgenabled::text || ')' END
      AS definition
  FROM pg_trigger t
  JOIN pg_class c ON c.oid = t.tgrelid
  WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal`;

// The version is left out: it depends on the server.
const EXTENSIONS = `
  SELECT 'extension' AS kind, extname AS name, '' AS definition FROM pg_extension`;

const QUERIES = [
  TABLES,
  COLUMNS,
  CONSTRAINTS,
  INDEXES,
  STATISTICS,
  SEQUENCES,
  FUNCTIONS,
  TRIGGERS,
  EXTENSIONS,
];

/** Everything in the schema "public" of the database except Prisma's own table of migrations. */
export async function readCatalog(client: Client): Promise<Item[]> {
  const items: Item[] = [];
  for (const query of QUERIES) items.push(...(await client.query<Item>(query)).rows);
  return items.filter(({ name }) => !name.startsWith('_prisma_migrations'));
}

/** Returns a line for each item that differs; none when the migrations match the declarations. */
export function compareCatalogs({ migrated, declared }: Catalogs): string[] {
  const migratedItems = byName(migrated);
  const declaredItems = byName(declared);
  const differences: string[] = [];
  for (const [name, item] of declaredItems) {
    const migratedItem = migratedItems.get(name);
    if (!migratedItem) {
      differences.push(`${name} is declared in ${describeSource(item)}, but no migration makes it`);
    } else if (migratedItem.definition !== item.definition) {
      differences.push(
        `${name} differs: the migrations make "${oneLine(migratedItem.definition)}", ` +
          `${describeSource(item)} declares "${oneLine(item.definition)}"`,
      );
    }
  }
  for (const [name, item] of migratedItems) {
    if (declaredItems.has(name)) continue;
    differences.push(`${name} is made by a migration, but not declared in ${describeSource(item)}`);
  }
  return differences;
}

function byName(items: Item[]): Map<string, Item> {
  return new Map(items.map((item) => [`${item.kind} ${item.name}`, item]));
}

function describeSource(item: Item): string {
  if (item.kind === 'function' || item.kind === 'trigger') return 'prisma/sql/';
  return isBeyondSchema(item) ? 'prisma/migrations/' : 'prisma/schema.prisma';
}

/** True for items that schema.prisma cannot express: only a migration declares them. */
function isBeyondSchema({ kind, definition }: Item): boolean {
  if (kind === 'sequence') return !definition.includes('owned by');
  if (kind === 'index') return /USING gin|INCLUDE|\(\(?CASE|\bxid\b/.test(definition);
  return kind === 'CHECK' || kind === 'extension' || kind === 'statistics';
}

/** Items as schema.prisma can express them: without storage options, CHECKs and the like. */
export const selectSchemaItems = (items: Item[]): Item[] =>
  items
    .filter((item) => !isBeyondSchema(item))
    .map((item) => ({ ...item, definition: item.definition.replace(STORAGE, '') }));

const STORAGE = / (?:unlogged|compression \w+|with \([^)]*\))/g;

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The CHECKs that a migrated database has and its migrations do not declare, or the reverse. */
export function compareChecks(migrated: Item[], sources: string[]): string[] {
  const declared = new Set<string>();
  for (const [, dropped, added] of sources.join('\n').replace(/--.*/g, '').matchAll(CHECKS)) {
    if (added) declared.add(added);
    if (dropped) declared.delete(dropped);
  }
  const migratedChecks = new Set(
    migrated.filter(({ kind }) => kind === 'CHECK').map(({ name }) => name.split('.')[1]!),
  );
  return [
    ...[...declared]
      .filter((name) => !migratedChecks.has(name))
      .map((name) => `CHECK ${name} is lost`),
    ...[...migratedChecks]
      .filter((name) => !declared.has(name))
      .map((name) => `CHECK ${name} is in no migration`),
  ];
}

const CHECKS = /\bDROP CONSTRAINT (?:IF EXISTS )?(\w+)|\bCONSTRAINT (\w+)\s+CHECK\b/g;

/** Migrations that are dated after `now`, by the first 14 digits of their names (UTC). */
export function futureMigrations(names: string[], now: Date): string[] {
  const stamp = now.toISOString().replace(/\D/g, '').slice(0, 14);
  return names
    .filter((name) => name.slice(0, 14) > stamp)
    .map((name) => `prisma/migrations/${name} is dated in the future: now is ${stamp}`);
}
