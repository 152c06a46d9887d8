import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { buildSync } from 'esbuild';

const CLIENT = join(__dirname, '../../src/console/client');

/**
 * A module of the console's client, bundled as for the browser and run without one: for what does
 * not draw. `Module` says what of it the test uses.
 */
export function loadClientModule<Module>(path: string): Module {
  const { outputFiles } = buildSync({
    entryPoints: [join(CLIENT, path)],
    bundle: true,
    write: false,
    format: 'cjs',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'error',
  });
  const module = { exports: {} as Module };
  const stored = new Map<string, string>();
  runInNewContext(outputFiles[0]!.text, {
    module,
    exports: module.exports,
    Intl,
    Date,
    JSON,
    URLSearchParams,
    location: { hash: '' },
    sessionStorage: { getItem: () => null },
    localStorage: { getItem: (key: string) => stored.get(key) ?? null },
    addEventListener: () => undefined,
  });
  return module.exports;
}
