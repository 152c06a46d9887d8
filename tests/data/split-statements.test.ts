import { splitStatements } from '../../src/data/postgres/split-statements';
import { functionsSource } from '../../src/data/postgres/migrate';

test('a script is cut at the semicolons between its statements, and nowhere else', () => {
  const script = `
    -- a comment; with a semicolon
    CREATE TABLE "a;b" (c text DEFAULT 'it''s; this', d text DEFAULT E'\\';');
    /* ; */
    CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; SELECT 2; $$;
    DO $do$ BEGIN PERFORM $$;$$; END $do$;;
    SELECT 1`;
  expect(splitStatements(script).map((statement) => statement.replace(/\s+/g, ' '))).toEqual([
    `-- a comment; with a semicolon CREATE TABLE "a;b" (c text DEFAULT 'it''s; this', d text DEFAULT E'\\';')`,
    '/* ; */ CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; SELECT 2; $$',
    'DO $do$ BEGIN PERFORM $$;$$; END $do$',
    'SELECT 1',
  ]);
});

test('every function of the database is a statement', () => {
  const script = functionsSource();
  const definitions = [...script.matchAll(/^CREATE (OR REPLACE )?FUNCTION/gm)];
  const statements = splitStatements(script);
  expect(
    statements.filter((statement) => /^CREATE (OR REPLACE )?FUNCTION/m.test(statement)).length,
  ).toBe(definitions.length);
});
