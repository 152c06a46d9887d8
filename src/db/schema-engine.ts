import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';

interface Schema {
  path: string;
  content: string;
}
interface MigrationsList {
  baseDir: string;
  lockfile: { path: string; content: string };
  shadowDbInitScript: string;
  migrationDirectories: {
    path: string;
    migrationFile: { path: string; content: { tag: 'ok'; value: string } };
  }[];
}
type DiffSide = { tag: 'empty' } | { tag: 'schemaDatamodel'; files: Schema[] };
interface Filters {
  externalTables: string[];
  externalEnums: string[];
}

/** The part of Prisma's schema engine this project calls. */
export interface SchemaEngine {
  diff(input: {
    from: DiffSide;
    to: DiffSide;
    script: boolean;
    exitCode: null;
    shadowDatabaseUrl: null;
    filters: Filters;
  }): Promise<{ stdout: string }>;
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

/** Prisma's adapter cuts a migration at every semicolon, also inside the body of a function. Sent whole, it is also applied whole or not at all. */
class WholeScripts extends PrismaPg {
  constructor(private readonly pool: Pool) {
    super(pool);
  }

  override async connect() {
    const adapter = await super.connect();
    adapter.executeScript = async (script) => void (await this.pool.query(script));
    return adapter;
  }
}

/**
 * Runs `work` with Prisma's official schema engine, from its npm package: the Prisma CLI would download a native one. Instantiated by hand
 * because Node cannot import .wasm files without a flag.
 */
export async function withSchemaEngine<T>(
  connectionString: string,
  schema: Schema,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const bindings = await (loaded ??= load());
  // A pool of our own, because the engine never closes the one it would open.
  const pool = new Pool({ connectionString });
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(new WholeScripts(pool));
    return await work(
      await bindings.SchemaEngine.new(
        { datamodels: [[schema.path, schema.content]] },
        () => undefined,
        adapter,
      ),
    );
  } finally {
    await pool.end();
  }
}
