import {
  KEPT_TABLE_COLUMNS,
  PERSONAL_DATA,
  REDACTED_TABLES,
} from '../../../src/operate/privacy/personal-data';
import { useWorld } from '../../support/use-world';

// The declaration of what belongs to a person is that of the schema: every column that can hold
// text or a telephone number is in it once, and nothing else is.

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
    ORDER BY 1`,
  );

const split = (columns: string | undefined) =>
  (columns?.split(' ') ?? []).map((column) => column.replace('[]', ''));

/** Columns of the declaration, each as often as it has a treatment. */
const declared = Object.entries(PERSONAL_DATA).flatMap(([table, data]) => {
  const { erased, redacted, keptColumns = [], impersonal = [] } = data;
  // A column that is erased with its row may be redacted elsewhere.
  const treatedColumns = new Set([...split(erased), ...split(redacted)]);
  const otherColumns = [...keptColumns, ...impersonal].flatMap(({ columns }) => split(columns));
  return [...treatedColumns, ...otherColumns].map((column) => `${table}.${column}`);
});

test('every column of the schema that can hold text has one treatment', async () => {
  const columns = await listColumns();
  expect(columns.length).toBeGreaterThan(200);
  expect(declared.toSorted()).toEqual(columns.map(({ name }) => name).toSorted());
});

test('lists are declared as lists', async () => {
  const lists = new Set(
    (await listColumns()).flatMap(({ name, is_list }) => (is_list ? name : [])),
  );
  for (const { table, columns } of REDACTED_TABLES)
    for (const column of columns)
      expect([column, column.endsWith('[]')]).toEqual([
        column,
        lists.has(`${table}.${column.replace('[]', '')}`),
      ]);
});

test('whatever stays says why', () => {
  for (const { why } of KEPT_TABLE_COLUMNS) expect(why.length).toBeGreaterThan(10);
});
