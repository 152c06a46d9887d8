import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { RequestHandler } from 'express';
import { hash, PreparedAnswer, sendPrepared } from './prepared';

// Scripts and styles of the pages. Their addresses have one version for all of them, so that
// browsers keep them, and so that a script loads others of its version by a relative address.

export const ASSETS = join(__dirname, '../../../assets/docs');
// Resolved, but not loaded: these files are for browsers. Those of Swagger UI come with
// swagger-ui-express.
const SWAGGER_UI = dirname(
  createRequire(require.resolve('swagger-ui-express')).resolve('swagger-ui-dist/package.json'),
);
/** The build copies it, because RapiDoc itself is needed for development alone. */
const BUILT_RAPIDOC = join(__dirname, '../../rapidoc-min.js');
const rapidoc = () =>
  existsSync(BUILT_RAPIDOC) ? BUILT_RAPIDOC : require.resolve('rapidoc/dist/rapidoc-min.js');
const OWN_FILES = [
  ...['pages.css', 'swagger.css', 'reference.css'],
  ...['search.js', 'list.js', 'swagger.js', 'reference.js'],
];

interface Assets {
  version: string;
  files: ReadonlyMap<string, PreparedAnswer>;
}

const DARK_RULES = /(?<=^|[{}])[^{}@]*html\.dark-mode[^{}]*\{[^{}]*\}/g;

/** Swagger UI is dark where a script sets a class; here, where the reader prefers it. */
const readSwaggerCss = () =>
  readFileSync(join(SWAGGER_UI, 'swagger-ui.css'), 'utf8')
    .replace(DARK_RULES, (rule) => `@media(prefers-color-scheme:dark){${rule}}`)
    .replaceAll('html.dark-mode ', 'html ');

function readAssets(): Assets {
  const script = (path: string) =>
    [basename(path), new PreparedAnswer('text/javascript', readFileSync(path))] as const;
  const style = (name: string, css: string | Buffer) =>
    [name, new PreparedAnswer('text/css', css)] as const;
  const files = new Map([
    ...OWN_FILES.map((name) => join(ASSETS, name)).map((path) =>
      path.endsWith('.css') ? style(basename(path), readFileSync(path)) : script(path),
    ),
    style('swagger-ui.css', readSwaggerCss()),
    script(join(SWAGGER_UI, 'swagger-ui-bundle.js')),
    script(rapidoc()),
  ]);
  return { version: hash([...files.values()].map(({ tag }) => tag).join()), files };
}

let assets: Assets | undefined;
const loadAssets = (): Assets => (assets ??= readAssets());

export const assetUrl = (name: string): string => `/api/assets/${loadAssets().version}/${name}`;

/** Pages of another version, open since before an update, get today's files. */
export const sendAsset: RequestHandler<{ version: string; name: string }> = (req, res, next) => {
  const { version, files } = loadAssets();
  const file = files.get(req.params.name);
  if (!file) return next();
  return sendPrepared(req, res, file, req.params.version === version ? 'forever' : 'checked');
};
