import { Client } from 'pg';
import { ROUTING_COLUMNS_OF_NUMBERS, ROUTING_TABLES } from '../../src/data/routing-changes';
import { Statement, statements, sql, type StatementName } from '../../src/data/sql';
import { prepareQueue } from '../../src/data/jobs/queue';
import { analyzer, type AnalyzedSql } from '../support/analyzed-sql';
import {
  collectFindings,
  type Fault,
  type Findings,
  type Write,
} from '../support/distributed-rules';
import { listRequestStatements } from '../support/sent-statements';
import {
  COUNTED_BY_CALLERS,
  EXCEPTIONS,
  NO_QUERIES,
  NODE_ROOMS,
} from '../support/several-companies';
import { loadStatements } from '../support/sources';
import { createWorld, freshDatabase } from '../support/world';

// Checks, without a cluster, that a distributed PostgreSQL with its rows sharded by company_id runs
// the statements: PostgreSQL itself analyzes each one, and its tree is checked.

let client: Client;
let analyzed: AnalyzedSql;
const findings = new Map<string, Findings>();

beforeAll(async () => {
  loadStatements();
  const url = await freshDatabase();
  await prepareQueue(url);
  client = new Client({ connectionString: url });
  await client.connect();
  analyzed = await analyzer(client);
  for (const statement of statements.values())
    if (!isExempt(statement.name)) await record(statement);
});
afterAll(() => client.end());

const isExempt = (name: string) =>
  NO_QUERIES.includes(name) || NODE_ROOMS.some((room) => name.startsWith(room));

const record = async (statement: Statement<StatementName>) => {
  const result = await find(statement, statement.options.needs?.text);
  findings.set(statement.name, result);
};

interface AnalyzedStatement {
  text: string;
  parameters: readonly string[];
}

const find = async ({ text, parameters }: AnalyzedStatement, needs?: string): Promise<Findings> =>
  collectFindings(await analyzed.analyze(text, needs), parameters, analyzed.names);

const listRules = ({ faults }: Findings) => [...new Set(faults.map(({ rule }) => rule))].sort();

test('every registered statement is for one shard, but for those named with a reason', () => {
  expect(findings.size).toBeGreaterThan(350);
  const rulesByName = [...findings].map(([name, ofIt]) => [name, listRules(ofIt)] as const);
  const exceptions = EXCEPTIONS.flatMap(({ rules, statements: names }) =>
    names.map((name) => [name, [...rules].sort()] as const),
  );
  expect(Object.fromEntries(rulesByName.filter(([, rules]) => rules.length > 0))).toEqual(
    Object.fromEntries(exceptions),
  );
});

test('so is every other statement that requests send, of lists, of writes and of Prisma', async () => {
  const registeredTexts = new Set([...statements.values()].map(({ text }) => text));
  const world = await createWorld({
    environment: { RATE_LIMIT_PER_MINUTE: '0', LEAD_RATE_LIMIT_PER_MINUTE: '0' },
  });
  const sentStatements = await listRequestStatements(world).finally(() => world.close());
  const composed = sentStatements.filter(({ text }) => !registeredTexts.has(text));
  expect(composed.length).toBeGreaterThan(250);
  const refused: { text: string; faults: Fault[] }[] = [];
  const uncounted: string[] = [];
  for (const statement of composed) {
    const result = await find(statement);
    if (result.faults.length > 0) refused.push({ text: statement.text, faults: result.faults });
    // A statement of several parts is a transaction of its own.
    if (statement.text.startsWith('WITH') && !countsRouting(result)) uncounted.push(statement.text);
  }
  expect({ refused, uncounted }).toEqual({ refused: [], uncounted: [] });
});

const changesRouting = ({ table, columns, operation }: Write): boolean => {
  if (table !== 'numbers') return ROUTING_TABLES.has(table);
  if (operation === 'update') return columns.some((name) => ROUTING_COLUMNS_OF_NUMBERS.has(name));
  return operation === 'delete';
};

/** True if a statement that changes the routing counts the change. */
const countsRouting = ({ writes }: Findings): boolean =>
  !writes.some(changesRouting) || writes.some(({ table }) => table === 'routing_changes');

test('every registered statement counts what it changes of the routing', () => {
  const uncounted = [...findings].flatMap(([name, result]) => (countsRouting(result) ? [] : name));
  expect(uncounted.sort()).toEqual(COUNTED_BY_CALLERS);
});

/** Removes a company: nothing is left of what would follow. */
const REMOVAL = 'privacy.delete_company_rows';

test('every registered statement that moves an agent records what follows', () => {
  const moves = ({ table, columns, operation }: Write) =>
    table === 'agents' &&
    (operation === 'delete' ||
      columns.some((name) => ['agent_status_id', 'deleted_at'].includes(name)));
  const moving = [...findings].filter(([, { writes }]) => writes.some(moves));
  expect(moving.map(([name]) => name).sort()).toEqual([
    'agents.change_status',
    'agents.delete_agent',
    REMOVAL,
  ]);
  const silent = moving.filter(([, { calls }]) => !calls.has('record_agent_change'));
  expect(silent.map(([name]) => name)).toEqual([REMOVAL]);
});

describe('the rules', () => {
  const company = sql`calls c WHERE c.company_id = {company_id}`;
  test.each<[string, ReturnType<typeof sql>, string[]]>([
    ['a condition', sql`SELECT FROM ${company}`, []],
    ['no condition', sql`SELECT FROM calls`, ['company calls']],
    ['another parameter', sql`SELECT FROM calls WHERE company_id = {id}`, ['company calls']],
    ['one of two', sql`SELECT FROM ${company} OR c.company_id = {id}`, ['company calls']],
    [
      'a join by it',
      sql`SELECT FROM leads l JOIN calls c USING (company_id) WHERE l.company_id = {company_id}`,
      [],
    ],
    [
      'a join without it',
      sql`SELECT FROM leads l JOIN calls c ON c.lead_id = l.id WHERE l.company_id = {company_id}`,
      ['company calls'],
    ],
    [
      'a subquery that takes it from outside',
      sql`SELECT (SELECT count(*) FROM leads l WHERE l.company_id = c.company_id) FROM ${company}`,
      [],
    ],
    [
      'a subquery without it',
      sql`SELECT (SELECT count(*) FROM leads l WHERE l.id = c.lead_id) FROM ${company}`,
      ['company leads'],
    ],
    [
      'a join with a part that is limited',
      sql`WITH a AS (SELECT c.company_id, c.id FROM ${company})
        SELECT FROM a JOIN leads l ON l.company_id = a.company_id`,
      [],
    ],
    [
      'a join with rows of the request',
      sql`SELECT FROM jsonb_to_recordset({rows}::jsonb) x(company_id bigint)
        JOIN leads l ON l.company_id = x.company_id`,
      ['company leads'],
    ],
    [
      'rows that are locked',
      sql`SELECT FROM leads FOR UPDATE`,
      ['company leads', 'locks FOR UPDATE or SHARE'],
    ],
    [
      'an inserted row of the company',
      sql`INSERT INTO lead_calls (company_id, call_id) SELECT c.company_id, c.id FROM ${company}
        ON CONFLICT DO NOTHING`,
      [],
    ],
    [
      'an inserted row of any company',
      sql`INSERT INTO lead_calls (company_id, call_id)
        SELECT x.company_id, 1 FROM unnest({ids}::bigint[]) x(company_id)`,
      ['company lead_calls'],
    ],
    ['a union', sql`SELECT id FROM ${company} UNION SELECT id FROM leads`, ['company leads']],
    [
      'a function in CASE',
      sql`UPDATE calls SET updated_at = CASE WHEN deleted_at IS NULL THEN now() END
        WHERE company_id = {company_id}`,
      ['mutable now'],
    ],
    [
      'a volatile function',
      sql`UPDATE calls SET uuid = gen_random_uuid() WHERE company_id = {company_id}`,
      ['volatile gen_random_uuid'],
    ],
    [
      'a function in CASE that is read',
      sql`SELECT coalesce(c.ended_at, now()) FROM ${company}`,
      [],
    ],
  ])('%s', async (_name, text, faults) => {
    const statement = new Statement('tests.made' as StatementName, text, { prepared: false });
    const result = await find(statement);
    expect(result.faults.map(({ rule, name }) => `${rule} ${name}`)).toEqual(faults);
  });
});
