import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from, to } from 'pg-copy-streams';
import { sqlOn } from '../db/sql';
import { urlOfNode, withSettings } from './address';
import type { Cell } from './create-cell';
import { LIST_SHARDS } from './queries/attach';
import { LIST_TABLES } from './queries/fill';

export interface CopiedTable {
  table: string;
  rows: number;
}

/** Copies all rows of some companies from the schema `public` of the coordinator to a cell. */
export async function fillCell(
  coordinator: string,
  { schema, node }: Cell,
  companies: readonly string[],
): Promise<CopiedTable[]> {
  const settings = { timezone: 'UTC', 'citus.override_table_visibility': 'off' };
  const source = new Client({ connectionString: withSettings(coordinator, settings) });
  const target = new Client({
    connectionString: withSettings(urlOfNode(coordinator, node), settings),
  });
  await Promise.all([source.connect(), target.connect()]);
  try {
    const shards = new Map(
      (await sqlOn(target)(LIST_SHARDS, { schema })).map(({ name, shard }) => [name, shard!]),
    );
    const copied: CopiedTable[] = [];
    await target.query('BEGIN');
    for (const { name, columns, company_column } of await sqlOn(source)(LIST_TABLES, {})) {
      const rows = source.query(
        to(
          `COPY (SELECT ${columns} FROM public.${name} ` +
            `WHERE ${company_column} = ANY ('{${companies.join()}}')) TO STDOUT (FORMAT binary)`,
        ),
      );
      const sink = target.query(
        from(`COPY ${shards.get(name!)} (${columns}) FROM STDIN (FORMAT binary)`),
      );
      await pipeline(rows, sink);
      copied.push({ table: name!, rows: sink.rowCount });
    }
    await target.query('COMMIT');
    return copied;
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}
