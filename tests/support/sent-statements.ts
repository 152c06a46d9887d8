import { Client } from 'pg';
import { contract, type Operation } from '../../src/platform/contract/contract';
import { createFixture, type Fixture } from './example';
import { repetitions } from './repetitions';
import type { Company, World } from './world';

// The statements that a company's requests send: composed ones, and those of Prisma.

export interface SentStatement {
  text: string;
  /** The names of $1, $2 and so on, as far as they are known: `company_id`. */
  parameters: string[];
}

/** An id that no other parameter has. */
const COMPANY = 7_000_001;

const QUERIES = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;

/** Runs work, and returns the statements that meanwhile were sent on any connection. */
async function collectStatements(work: () => Promise<unknown>): Promise<Map<string, unknown[]>> {
  const statements = new Map<string, unknown[]>();
  const query = jest.spyOn(Client.prototype, 'query');
  query.mockImplementation(function (this: Client, ...args: unknown[]) {
    const { text, values } = args[0] as { text?: string; values?: unknown[] };
    const statement = typeof args[0] === 'string' ? args[0] : text;
    const parameters = values ?? (Array.isArray(args[1]) ? args[1] : []);
    if (statement && QUERIES.test(statement)) statements.set(statement, parameters);
    return (real as (...all: unknown[]) => never).apply(this, args);
  } as never);
  try {
    await work();
  } finally {
    query.mockRestore();
  }
  return statements;
}

const real = Client.prototype.query as unknown;

/** Statements of the requests of one company: all operations, and lists in their orders. */
export async function listRequestStatements(world: World): Promise<SentStatement[]> {
  await world.sql(`ALTER SEQUENCE companies_id_seq RESTART WITH ${COMPANY}`);
  const company = await world.addCompany('Sender');
  const statements = await collectStatements(async () => {
    const fixture = await createFixture(world, company);
    await readAll(fixture, company);
    await writeAll(fixture);
  });
  return [...statements].map(([text, values]) => ({
    text,
    parameters: values.map((value) => (String(value) === String(COMPANY) ? 'company_id' : 'other')),
  }));
}

const isRead = ({ method }: Operation) => method === 'get';

async function readAll(fixture: Fixture, company: Company): Promise<void> {
  for (const operation of contract.operations.filter(isRead)) {
    const orders = operation.parameters.find(({ name }) => name === 'order_by')?.schema?.enum ?? [];
    const queries: Record<string, string | number>[] = [
      {},
      ...(orders.length > 0 ? [{ per_page: 1 }, { per_page: 1, page: 2 }, { fulltext: 'a' }] : []),
      ...orders
        .slice(0, repetitions(1, orders.length))
        .map((orderBy) => ({ order_by: String(orderBy) })),
    ];
    for (const query of queries) await fixture.send(operation, { query }, company.api);
  }
}

const ORDER = ['post', 'patch', 'put', 'delete'];

/** Sends each write twice: with an Idempotency-Key it runs in a transaction. */
async function writeAll(fixture: Fixture): Promise<void> {
  const writes = contract.operations
    .filter((operation) => !isRead(operation))
    .toSorted((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method));
  for (const operation of writes) {
    await fixture.send(operation);
    if (operation.credentials !== 'carrier_signature')
      await fixture.send(operation, { headers: { 'Idempotency-Key': operation.id } });
  }
}
