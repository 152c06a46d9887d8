import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from, to } from 'pg-copy-streams';
import { sqlOn, type Sql } from '../db/sql';
import { listTables, type Table } from '../db/whole-tables';
import { StartError } from '../start-error';
import { urlOfNode, withSettings, type Node } from './address';
import { ON_NODE } from './on-node';
import { LIST_SHARDS } from './queries/attach';
import { deleteRows } from './queries/copy';

/** Tables with rows of companies, in the schema `public` of the coordinator or in a cell. */
interface Tables {
  client: Client;
  /** Location of each table's rows, by its name. */
  places: ReadonlyMap<string, { place: string; columns: string; company_column: string | null }>;
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
  const [read, written] = await Promise.all([
    source ? shardsOf(coordinator, source) : tablesOf(coordinator),
    shardsOf(coordinator, target),
  ]);
  try {
    await withoutForeignKeys(written.client);
    await written.client.query('BEGIN');
    await read.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    let rows = 0;
    for (const [name, { place, columns, company_column }] of read.places) {
      if (company_column === null) continue;
      const out = read.client.query(
        to(
          `COPY (SELECT ${columns} FROM ${place} ` +
            `WHERE ${company_column} = ANY ('{${companies.join()}}')) TO STDOUT (FORMAT binary)`,
        ),
      );
      const into = `COPY ${written.places.get(name)!.place} (${columns})`;
      const sink = written.client.query(from(`${into} FROM STDIN (FORMAT binary)`));
      await pipeline(out, sink);
      rows += sink.rowCount;
    }
    await written.client.query('COMMIT');
    return rows;
  } finally {
    await Promise.all([read.client.end(), written.client.end()]);
  }
}

export async function removeCompanies(
  coordinator: string,
  cell: CellOnNode,
  companies: readonly string[],
): Promise<void> {
  const { client, places } = await shardsOf(coordinator, cell);
  try {
    await withoutForeignKeys(client);
    await client.query('BEGIN');
    for (const { place, company_column } of places.values())
      if (company_column !== null)
        await client.query(deleteRows(place, company_column), [companies]);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

/** The tables of a database that is not distributed, except that of the installation. */
export const tablesOfCompanies = async (sql: Sql): Promise<Table[]> =>
  (await listTables(sql)).filter(({ name }) => name !== 'installations');

async function tablesOf(coordinator: string): Promise<Tables> {
  const client = await connect(coordinator);
  const tables = await tablesOfCompanies(sqlOn(client));
  return {
    client,
    places: new Map(
      tables.map(({ name, columns, company_column }) => [
        name,
        { place: `public.${name}`, columns, company_column },
      ]),
    ),
  };
}

async function shardsOf(coordinator: string, { schema, node }: CellOnNode): Promise<Tables> {
  const client = await connect(urlOfNode(coordinator, node));
  const shards = await sqlOn(client)(LIST_SHARDS, { schema });
  return {
    client,
    places: new Map(
      shards.map(({ name, shard, columns, company_column }) => [
        name,
        { place: shard, columns, company_column },
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
const withoutForeignKeys = (client: Client): Promise<unknown> =>
  client.query('SET session_replication_role = replica').catch((error: { code?: string }) => {
    if (error.code !== '42501') throw error;
    throw new StartError(
      'The user of the database may not set session_replication_role. On every node, as a ' +
        'superuser: GRANT SET ON PARAMETER session_replication_role TO (that user);',
    );
  });
