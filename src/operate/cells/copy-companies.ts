import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from, to } from 'pg-copy-streams';
import { sqlOn, type Sql } from '../../data/sql';
import { listTables, type Table } from '../../data/postgres/whole-tables';
import { StartError } from '../../platform/start-error';
import { buildNodeUrl, withSettings, type Node } from './address';
import { ON_NODE } from './on-node';
import { deleteRows, LIST_SHARDS } from './queries/attach';

/** Tables with rows of companies, in the schema `public` of the coordinator or in a cell. */
interface Tables {
  client: Client;
  /** Location of each table's rows, by its name. */
  relations: ReadonlyMap<
    string,
    { qualifiedName: string; columns: string; company_column: string | null }
  >;
}

interface CellOnNode {
  schema: string;
  node: Node;
}

/**
 * Copies all rows of some companies to a cell that has none of them, in one transaction. `source`
 * is a cell; undefined for the tables of a database that is being distributed. Returns the number
 * of rows.
 */
export async function copyCompanies(
  coordinator: string,
  { source, target }: { source?: CellOnNode; target: CellOnNode },
  companies: readonly string[],
): Promise<number> {
  const [sourceTables, targetTables] = await Promise.all([
    source ? openShards(coordinator, source) : openTables(coordinator),
    openShards(coordinator, target),
  ]);
  try {
    await disableForeignKeys(targetTables.client);
    await targetTables.client.query('BEGIN');
    await sourceTables.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    let rows = 0;
    for (const [name, { qualifiedName, columns, company_column }] of sourceTables.relations) {
      if (company_column === null) continue;
      const out = sourceTables.client.query(
        to(
          `COPY (SELECT ${columns} FROM ${qualifiedName} ` +
            `WHERE ${company_column} = ANY ('{${companies.join()}}')) TO STDOUT (FORMAT binary)`,
        ),
      );
      const into = `COPY ${targetTables.relations.get(name)!.qualifiedName} (${columns})`;
      const sink = targetTables.client.query(from(`${into} FROM STDIN (FORMAT binary)`));
      await pipeline(out, sink);
      rows += sink.rowCount;
    }
    await targetTables.client.query('COMMIT');
    return rows;
  } finally {
    await Promise.all([sourceTables.client.end(), targetTables.client.end()]);
  }
}

export async function removeCompanies(
  coordinator: string,
  cell: CellOnNode,
  companies: readonly string[],
): Promise<void> {
  const { client, relations } = await openShards(coordinator, cell);
  try {
    await disableForeignKeys(client);
    await client.query('BEGIN');
    for (const { qualifiedName, company_column } of relations.values())
      if (company_column !== null)
        await client.query(deleteRows(qualifiedName, company_column), [companies]);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

/** The tables of a database that is not distributed, except that of the installation. */
export const listCompanyTables = async (sql: Sql): Promise<Table[]> =>
  (await listTables(sql)).filter(({ name }) => name !== 'installations');

async function openTables(coordinator: string): Promise<Tables> {
  const client = await connect(coordinator);
  const tables = await listCompanyTables(sqlOn(client));
  return {
    client,
    relations: new Map(
      tables.map(({ name, columns, company_column }) => [
        name,
        { qualifiedName: `public.${name}`, columns, company_column },
      ]),
    ),
  };
}

async function openShards(coordinator: string, { schema, node }: CellOnNode): Promise<Tables> {
  const client = await connect(buildNodeUrl(coordinator, node));
  const shards = await sqlOn(client)(LIST_SHARDS, { schema });
  return {
    client,
    relations: new Map(
      shards.map(({ name, shard, columns, company_column }) => [
        name,
        { qualifiedName: shard, columns, company_column },
      ]),
    ),
  };
}

async function connect(url: string): Promise<Client> {
  const client = new Client(withSettings(url, ON_NODE));
  await client.connect();
  return client;
}

/** Rows are copied and deleted table by table, all of them or none. */
const disableForeignKeys = (client: Client): Promise<unknown> =>
  client.query('SET session_replication_role = replica').catch((error: { code?: string }) => {
    if (error.code !== '42501') throw error;
    throw new StartError(
      'The user of the database may not set session_replication_role. On every node, as a ' +
        'superuser: GRANT SET ON PARAMETER session_replication_role TO (that user);',
    );
  });
