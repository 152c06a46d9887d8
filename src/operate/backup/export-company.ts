import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { to } from 'pg-copy-streams';
import { contract } from '../../platform/contract/contract';
import type { Database } from '../../data/client';
import { sqlOn } from '../../data/sql';
import { runInTransaction } from '../../data/transaction';
import type { Deps } from '../../domain/deps';
import { StartError } from '../../platform/start-error';
import { listStoredFiles } from '../installation/stored-files';
import { UNEXPORTED_TABLES } from '../privacy/ownership';
import { createNewFile } from '../../platform/storage/new-file';
import { requireNewFile, writeArchive, type Archive } from './archive';
import { addFiles } from './back-up';
import { copyCompanyOut, LIST_COMPANY_TABLES } from './queries/company';
import { READ_MOMENT } from './queries/snapshot';

export interface ExportedCompany {
  file: string;
  bytes: number;
  company_id: number;
  taken_at: string;
  /** Rows by table. */
  rows: Record<string, number>;
  files: number;
  missing_files: string[];
}

/**
 * Writes all records of a company, as of one instant, into a new archive: each table as CSV, and
 * the uploaded files. It leaves out digests and secrets of credentials and webhooks.
 */
export async function exportCompany(
  { parts, storage }: Pick<Deps, 'parts' | 'storage'>,
  companyId: bigint,
  file: string,
): Promise<ExportedCompany> {
  await requireNewFile(file);
  const database = await findDatabase(
    parts().map((part) => part.database),
    companyId,
  );
  return runInTransaction(database.bulk, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await client.query('SET LOCAL statement_timeout = 0');
    const sql = sqlOn(client);
    const [moment] = await sql(READ_MOMENT, {});
    const takenAt = moment!.taken_at!.toISOString();
    const folder = await mkdtemp(join(dirname(file), '.export-'));
    try {
      let rows = {};
      let added = { files: 0, missing_files: [] as string[] };
      const bytes = await writeArchive(file, async (archive) => {
        rows = await addTables(archive, client, { company_id: companyId, folder });
        const keys = await listStoredFiles(sql, { company_id: companyId });
        added = await addFiles(archive, keys, storage);
        await archive.add(
          'export.json',
          JSON.stringify({
            version: contract.document.info.version,
            taken_at: takenAt,
            rows,
            ...added,
          }),
        );
      });
      return { file, bytes, company_id: Number(companyId), taken_at: takenAt, rows, ...added };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Throws StartError if no database has the company. */
async function findDatabase(databases: readonly Database[], companyId: bigint): Promise<Database> {
  for (const database of databases)
    if (await database.prisma.company.findUnique({ where: { id: companyId } })) return database;
  throw new StartError(`There is no company ${companyId}.`);
}

/**
 * An archive entry states its size before its content, so each table is first written to `folder`.
 */
async function addTables(
  archive: Archive,
  client: PoolClient,
  { company_id, folder }: { company_id: bigint; folder: string },
): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  const tables = await sqlOn(client)(LIST_COMPANY_TABLES, { left_out: UNEXPORTED_TABLES });
  for (const { name, columns } of tables) {
    const draft = join(folder, `${name}.csv`);
    const stream = client.query(to(copyCompanyOut(name, columns, String(company_id))));
    await pipeline(stream, createNewFile(draft));
    if (stream.rowCount > 0) {
      rows[name] = stream.rowCount;
      const { size } = await stat(draft);
      await archive.addStream(`tables/${name}.csv`, size, createReadStream(draft));
    }
    await rm(draft);
  }
  return rows;
}
