import {
  COMPANY_TABLES,
  isInterval,
  KEPT_REASONS,
  OWNERSHIP,
  REDACTED_TABLES,
} from '../../../src/operate/privacy/ownership';
import { useWorld } from '../../support/use-world';

// Ownership follows from the schema: every column that can hold text or a telephone
// number has a mark, every table with data of persons has a way from the person to its rows.

const world = useWorld();

interface Column {
  name: string;
  is_list: boolean;
}

/** Columns whose type can hold text, and numbers that are called so, as TABLE.COLUMN. */
const listColumns = () =>
  world.sql<Column>(
    `SELECT c.relname || '.' || a.attname AS name, y.typcategory = 'A' AS is_list
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type y ON y.oid = a.atttypid
    LEFT JOIN pg_type e ON e.oid = y.typelem AND y.typcategory = 'A'
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
      AND (
        coalesce(e.typcategory, y.typcategory) = 'S'
        OR coalesce(e.typname, y.typname) IN ('json', 'jsonb', 'bytea', 'xml')
        OR (a.attname ~ '(^|_)(number|phone)$' AND y.typcategory = 'N')
      )
      AND (c.relname, a.attname) <> ('users', 'invitation_number')
      -- Prisma's own, without a model.
      AND c.relname <> '_prisma_migrations'
    ORDER BY 1`,
  );

const rules = OWNERSHIP.flatMap(({ name: table, rules: columns }) =>
  columns.map((column) => ({ ...column, name: `${table}.${column.name}` })),
);
/** Marks of columns without text say how they change with their row. */
const treated = rules.filter(({ words }) => String(words) !== 'set');

test('every column of the schema that can hold text has a mark, and no other', async () => {
  const columns = await listColumns();
  expect(columns.length).toBeGreaterThan(200);
  expect(treated.map(({ name }) => name).toSorted()).toEqual(
    columns.map(({ name }) => name).toSorted(),
  );
});

test('lists are lists of the database', async () => {
  const columns = await listColumns();
  const lists = new Set(columns.flatMap(({ name, is_list }) => (is_list ? name : [])));
  for (const { table, columns: redacted } of REDACTED_TABLES)
    for (const { name, is_list } of redacted)
      expect([name, is_list === true]).toEqual([name, lists.has(`${table}.${name}`)]);
});

const PERSONAL = ['erased', 'deleted', 'redacted', 'stays', ...Object.keys(KEPT_REASONS)];
const IMPERSONAL = ['code', 'key', 'business', 'service', 'set'];

test('a column has a mark of known words; whatever stays says why', () => {
  const faults = rules.filter(({ words, is_personal: isPersonal }) => {
    const isKnown = words.every((word) => (isPersonal ? PERSONAL : IMPERSONAL).includes(word));
    const isReasoned = (words[0] === 'stays') === words.some((word) => word in KEPT_REASONS);
    return !isKnown || !isReasoned;
  });
  expect(faults).toEqual([]);
});

test('a table has marks of known words', () => {
  const words = OWNERSHIP.flatMap(({ marks }) => marks.map(({ word }) => word));
  expect([...new Set(words)].toSorted()).toEqual([
    'about',
    'erasure',
    'export',
    'part of',
    'retention',
    'search',
  ]);
});

test('rows with data of persons are found by the person, or erased by a file of their own', () => {
  const withData = OWNERSHIP.filter(({ rules: columns }) =>
    columns.some(({ words }) => words.includes('erased') || words.includes('deleted')),
  );
  expect(withData.length).toBeGreaterThan(15);
  const lost = withData.filter(
    ({ owners, marks }) =>
      owners.length === 0 &&
      !marks.some(({ word, text }) => word === 'erasure' && /^by src\/[\w/-]+\.ts$/.test(text)),
  );
  expect(lost.map(({ name }) => name)).toEqual([]);
});

test('columns are emptied or deleted as their table is', () => {
  const faults = OWNERSHIP.filter(({ owners, emptied, deletedRows, rules: columns }) => {
    const has = (effect: string) => columns.some(({ words }) => words.includes(effect));
    const isDeleted = deletedRows !== undefined;
    return (
      owners.length > 0 && (has('erased') !== emptied.length > 0 || (has('deleted') && !isDeleted))
    );
  });
  expect(faults.map(({ name }) => name)).toEqual([]);
});

test('a column that names a call or a lead says whether its row belongs to it', () => {
  const roots = ['calls', 'leads'];
  const unclear = OWNERSHIP.flatMap(({ name, columns, foreignKeys, marks }) => {
    const isPart = foreignKeys.some(
      ({ target, is_optional: isOptional }) => roots.includes(target) && !isOptional,
    );
    return columns
      .filter(({ name: column }) => column === 'call_id' || column === 'lead_id')
      .filter(
        ({ name: column }) =>
          !isPart &&
          !foreignKeys.some((key) => key.column === column) &&
          !marks.some(({ word, text }) =>
            ['about', 'part of'].includes(word) ? text.endsWith(` ${column}`) : false,
          ),
      )
      .map(({ name: column }) => `${name}.${column}`);
  });
  expect(unclear).toEqual([]);
});

test('retention names settings or intervals, and columns', async () => {
  const settings = world.deps.config as unknown as Record<string, unknown>;
  const rulesOfTables = OWNERSHIP.flatMap(({ name, columns, retention }) =>
    retention.map((rule) => ({ name, columns, rule })),
  );
  expect(rulesOfTables.length).toBeGreaterThan(9);
  for (const { name, columns, rule } of rulesOfTables) {
    const { period, since } = rule;
    if (isInterval(rule)) await world.sql('SELECT $1::interval', [period]);
    else expect([name, typeof settings[period]]).toEqual([name, 'number']);
    const type = columns.find((column) => column.name === since)?.type;
    expect([name, type]).toEqual([name, 'DateTime']);
  }
});

test('every table with rows of companies is deleted with a company', async () => {
  const tables = await world.sql<{ name: string }>(
    `SELECT c.relname AS name
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'company_id'
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    ORDER BY 1`,
  );
  expect(COMPANY_TABLES.map(({ name }) => name).toSorted()).toEqual(
    tables.map(({ name }) => name).toSorted(),
  );
});
