import { Client } from 'pg';
import { readProcedures } from '../support/procedures';
import { explainStatement, loadStatements } from '../support/sources';
import { freshDatabase } from '../support/world';

// Parts of one statement see the tables as they were before it, and write in no known order. A
// statement of which one part needs another to have written is right by luck: it is a procedure.

let client: Client;
beforeAll(async () => {
  client = new Client({ connectionString: await freshDatabase() });
  await client.connect();
});
afterAll(() => client.end());

interface Plan {
  'Node Type': string;
  Operation?: string;
  'Relation Name'?: string;
  'Subplan Name'?: string;
  'CTE Name'?: string;
  Plans?: Plan[];
}

/** A part of a statement: the table that it writes, and the tables and parts that it reads itself. */
interface Part {
  name: string | undefined;
  writes: string;
  reads: Set<string>;
  follows: Set<string>;
}

function listParts(plan: Plan, reader: Part | undefined, parts: Part[]): Part[] {
  const relation = plan['Relation Name'];
  let part = reader;
  if (plan['Node Type'] === 'ModifyTable') {
    const name = plan['Subplan Name']?.replace('CTE ', '');
    part = { name, writes: relation!, reads: new Set(), follows: new Set() };
    parts.push(part);
  } else if (relation !== undefined) part?.reads.add(relation);
  if (plan['CTE Name'] !== undefined) part?.follows.add(plan['CTE Name']);
  for (const inner of plan.Plans ?? []) listParts(inner, part, parts);
  return parts;
}

async function explainParts(text: string): Promise<Part[]> {
  const [explained] = await explainStatement<[{ Plan: Plan }]>(client, text, 'FORMAT JSON');
  return listParts(explained![0].Plan, undefined, []);
}

function findDependences(parts: readonly Part[]): string[] {
  const faults: string[] = [];
  for (const [n, { writes, follows }] of parts.entries())
    for (const [m, other] of parts.entries()) {
      if (n === m) continue;
      if (m > n && other.writes === writes) faults.push(`two parts write ${writes}`);
      // One whose rows this part needs has read before it.
      if (other.reads.has(writes) && other.writes !== writes && !follows.has(other.name ?? ''))
        faults.push(`what writes ${other.writes} reads ${writes}, which another part writes`);
    }
  return faults;
}

const WRITES = /\b(INSERT INTO|UPDATE \w+|DELETE FROM)\s/g;
const countWrites = (text: string) => text.match(WRITES)?.length ?? 0;

test('no part of a statement reads or writes what another part writes', async () => {
  const faults: Record<string, string[]> = {};
  let checked = 0;
  for (const { name, text, options } of loadStatements().values()) {
    if (countWrites(text) < 2 || options.needs) continue;
    const parts = await explainParts(text);
    if (parts.length > 1) checked++;
    const ofStatement = findDependences(parts);
    if (ofStatement.length > 0) faults[name] = ofStatement;
  }
  expect(checked).toBeGreaterThan(8);
  expect(faults).toEqual({});
});

test('a statement of a procedure has one part that writes, besides itself', () => {
  const parts = /\w+ AS (?:NOT MATERIALIZED |MATERIALIZED )?\(\s*(?:INSERT|UPDATE|DELETE)\b/g;
  const having = readProcedures().filter(({ text }) =>
    text.split(/;\n/).some((part) => (part.match(parts) ?? []).length > 1),
  );
  expect(having).toEqual([]);
});

test('a statement that is right by luck is found', async () => {
  const text = `
    WITH made AS (INSERT INTO dispositions (company_id, uuid) VALUES ($1, $2) RETURNING id),
    changed AS (UPDATE calls c SET disposition_id = d.id FROM dispositions d RETURNING c.id)
    SELECT made.id FROM made, changed`;
  expect(findDependences(await explainParts(text))).toEqual([
    'what writes calls reads dispositions, which another part writes',
  ]);
});
