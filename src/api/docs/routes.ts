import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Router } from 'express';
import { contract } from '../../platform/contract/contract';
import { readPublished } from '../../platform/contract/published-contract';
import { ERRORS_PATH } from '../../platform/problem-body';
import { errorPage } from '../reply/error-page';
import { fullDocument, publishedDocument, swaggerDocument, tagDocument } from './document';
import { introductionPage, swaggerPage, tagPage } from './pages';
import { prepare, send } from './prepared';
import { searchIndex } from './search-index';
import { ORDERED_TAGS } from './tags';

const ASSETS = join(__dirname, '../../../assets');
// Resolved, but not loaded: these files are for browsers. Those of Swagger UI come with
// swagger-ui-express.
const SWAGGER_UI = dirname(
  createRequire(require.resolve('swagger-ui-express')).resolve('swagger-ui-dist/package.json'),
);
/** The build copies it, because RapiDoc itself is needed for development alone. */
const BUILT_RAPIDOC = join(__dirname, '../../rapidoc-min.js');
const rapidoc = () =>
  existsSync(BUILT_RAPIDOC) ? BUILT_RAPIDOC : require.resolve('rapidoc/dist/rapidoc-min.js');
const FILES = [
  ...['pages.css', 'swagger.css', 'reference.css'].map((name) => join(ASSETS, 'docs', name)),
  ...['search.js', 'swagger.js', 'reference.js'].map((name) => join(ASSETS, 'docs', name)),
  rapidoc(),
  ...['swagger-ui.css', 'swagger-ui-bundle.js'].map((name) => join(SWAGGER_UI, name)),
];

const json = (document: unknown) => prepare('application/json', JSON.stringify(document));
const html = (text: string) => prepare('text/html', text);

const file = (path: string) =>
  prepare(path.endsWith('.css') ? 'text/css' : 'text/javascript', readFileSync(path));

/**
 * The contract as files, Swagger UI to try it and the reference to read it. All of it comes from
 * this server, without a CDN.
 */
export function docs(): Router {
  const router = Router({ strict: true });
  router.get(
    '/api/openapi.yaml',
    send(() => prepare('application/yaml', readPublished(contract.document))),
  );
  const sendPublished = send(() => json(publishedDocument()));
  const sendFull = send(() => json(fullDocument()));
  router.get('/api/openapi.json', (req, res, next) =>
    (req.query.full === '1' ? sendFull : sendPublished)(req, res, next),
  );
  for (const path of FILES) {
    router.get(
      `/api/assets/${path.split('/').at(-1)}`,
      send(() => file(path)),
    );
  }
  router.get(ERRORS_PATH, errorPage());
  router.get('/api/docs', (_req, res) => res.redirect(301, '/api/docs/'));
  router.get(
    '/api/docs/',
    send(() => html(swaggerPage())),
  );
  router.get(
    '/api/docs/openapi.json',
    send(() => json(swaggerDocument())),
  );
  router.get(
    '/api/docs/search.json',
    send(() => json(searchIndex())),
  );
  reference(router);
  return router;
}

function reference(router: Router): void {
  router.get('/api/reference', (_req, res) => res.redirect(301, '/api/reference/'));
  router.get(
    '/api/reference/',
    send(() => html(introductionPage())),
  );
  for (const tag of ORDERED_TAGS) {
    const url = `/api/reference/${tag.name}`;
    router.get(
      url,
      send(() => html(tagPage(tag))),
    );
    router.get(
      `${url}.json`,
      send(() => json(tagDocument(tag.name))),
    );
  }
}
