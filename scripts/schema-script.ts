import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { Pool } from 'pg';
import { PRISMA_FOLDER } from '../src/data/postgres/migrate';

// Prisma's official schema engine from its npm package: the Prisma CLI would download a native one.

/** The part of the engine that is used here. */
interface SchemaEngine {
  diff(input: object): Promise<{ stdout: string }>;
}

/** The two constructors used here, instead of the DOM type library. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: object };
};

const FOLDER = join(__dirname, '../node_modules/@prisma/schema-engine-wasm');

interface Bindings {
  __wbg_set_wasm(exports: object): void;
  SchemaEngine: { new: (...input: unknown[]) => Promise<SchemaEngine> };
}

/** Instantiated by hand because Node cannot import .wasm files without a flag. */
async function loadEngine(): Promise<Bindings> {
  const bindings = (await import(join(FOLDER, 'schema_engine_bg.js'))) as Bindings;
  const module = new WebAssembly.Module(readFileSync(join(FOLDER, 'schema_engine_bg.wasm')));
  const wasm = new WebAssembly.Instance(module, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(wasm.exports);
  (wasm.exports as { __wbindgen_start(): void }).__wbindgen_start();
  return bindings;
}

/**
 * Returns the SQL that makes an empty database match schema.prisma. Connects to a database, which
 * it does not change.
 */
export async function buildSchemaScript(connectionString: string): Promise<string> {
  const { SchemaEngine: Engine } = await loadEngine();
  const path = join(PRISMA_FOLDER, 'schema.prisma');
  const schema = { path, content: readFileSync(path, 'utf8') };
  // The engine never closes a pool that it opens itself.
  const pool = new Pool({ connectionString });
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
    const datamodels = [[schema.path, schema.content]];
    const engine = await Engine.new({ datamodels }, () => undefined, adapter);
    const { stdout } = await engine.diff({
      from: { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: null,
      shadowDatabaseUrl: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    return stdout;
  } finally {
    await pool.end();
  }
}
