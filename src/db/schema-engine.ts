import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { HostsClient, inPool } from './hosts-client';

interface Schema {
  path: string;
  content: string;
}

interface MigrationDirectory {
  path: string;
  migrationFile: { path: string; content: { tag: 'ok'; value: string } };
}

export interface MigrationsList {
  baseDir: string;
  lockfile: { path: string; content: string };
  shadowDbInitScript: string;
  migrationDirectories: MigrationDirectory[];
}

type DiffSide = { tag: 'empty' } | { tag: 'schemaDatamodel'; files: Schema[] };

interface Filters {
  externalTables: string[];
  externalEnums: string[];
}

interface Diff {
  from: DiffSide;
  to: DiffSide;
  script: boolean;
  exitCode: null;
  shadowDatabaseUrl: null;
  filters: Filters;
}

/** The part of Prisma's schema engine this project calls. */
export interface SchemaEngine {
  diff(input: Diff): Promise<{ stdout: string }>;
  applyMigrations(input: {
    migrationsList: MigrationsList;
    filters: Filters;
  }): Promise<{ appliedMigrationNames: string[] }>;
}

/** The two constructors used here; the rest of the type library of browsers is not wanted. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: object };
};

const FOLDER = join(__dirname, '../../node_modules/@prisma/schema-engine-wasm');

interface Bindings {
  __wbg_set_wasm(exports: object): void;
  SchemaEngine: { new: (...input: unknown[]) => Promise<SchemaEngine> };
}

let loaded: Promise<Bindings> | undefined;

async function load(): Promise<Bindings> {
  const bindings = (await import(join(FOLDER, 'schema_engine_bg.js'))) as Bindings;
  const module = new WebAssembly.Module(readFileSync(join(FOLDER, 'schema_engine_bg.wasm')));
  const wasm = new WebAssembly.Instance(module, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(wasm.exports);
  (wasm.exports as { __wbindgen_start(): void }).__wbindgen_start();
  return bindings;
}

/**
 * Prisma's adapter splits a migration at every semicolon, even inside the body of a function. Sent
 * as one query it is one transaction: applied as a whole or not at all.
 */
class WholeScripts extends PrismaPg {
  /** Why a script failed; the engine's own error does not contain it. */
  failure: unknown;

  constructor(
    private readonly pool: Pool,
    private readonly run: (pool: Pool, script: string) => Promise<unknown>,
    schema: string,
  ) {
    super(pool, { schema });
  }

  override async connect() {
    const adapter = await super.connect();
    adapter.executeScript = async (script) => {
      await this.run(this.pool, script).catch((error: unknown) => {
        this.failure = error;
        throw error;
      });
    };
    return adapter;
  }
}

export interface EngineOptions {
  connectionString: string;
  schema: Schema;
  /** Runs a script of the engine, all of it or nothing. */
  run?: (pool: Pool, script: string) => Promise<unknown>;
}

/**
 * Runs `work` with Prisma's official schema engine, from its npm package: the Prisma CLI would
 * download a native one. Instantiated by hand because Node cannot import .wasm files without a
 * flag.
 */
export async function withSchemaEngine<T>(
  { connectionString, schema, run = (pool, script) => pool.query(script) }: EngineOptions,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const { SchemaEngine: Engine } = await (loaded ??= load());
  // A pool of our own, because the engine never closes the one it would open.
  const pool = new Pool({ connectionString, Client: inPool(HostsClient) });
  const { rows } = await pool.query<{ name: string }>('SELECT current_schema() AS name');
  const scripts = new WholeScripts(pool, run, rows[0]!.name);
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(scripts);
    const datamodels = [[schema.path, schema.content]];
    return await work(await Engine.new({ datamodels }, () => undefined, adapter));
  } catch (error) {
    throw scripts.failure ?? error;
  } finally {
    await pool.end();
  }
}
