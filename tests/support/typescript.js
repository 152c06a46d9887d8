const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { version } = require('@swc/core/package.json');

const CACHE = join(__dirname, '../../node_modules/.cache/trunkline-typescript');
const OPTIONS = {
  jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
  module: { type: 'commonjs', ignoreDynamic: true },
  sourceMaps: true,
};

/** Where the source map of each file that was loaded is kept. */
const sourceMaps = new Map();

/**
 * Lets `require` read TypeScript, in the processes of tests and in those that tests start (`node
 * --require tests/support/typescript.js src/main/server.ts`). Each file is compiled once and kept
 * under the hash of its content, so nothing has to be built first and nothing can be stale.
 */
Module._extensions['.ts'] = (module, file) => {
  const source = readFileSync(file, 'utf8');
  const key = createHash('sha1').update(`${version}\n${file}\n${source}`).digest('hex');
  const compiled = join(CACHE, `${key}.js`);
  const map = join(CACHE, `${key}.js.map`);
  if (!existsSync(compiled)) compile({ file, source, compiled, map });
  sourceMaps.set(file, map);
  module._compile(readFileSync(compiled, 'utf8'), file);
};

function compile({ file, source, compiled, map }) {
  const output = require('@swc/core').transformSync(source, { ...OPTIONS, filename: file });
  mkdirSync(CACHE, { recursive: true });
  writeWhole(map, output.map);
  writeWhole(compiled, `${output.code}\n//# sourceMappingURL=${pathToFileURL(map)}\n`);
}

/** Another process may compile the same file at this moment; it must never read half of it. */
function writeWhole(path, text) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

module.exports = { sourceMaps };
