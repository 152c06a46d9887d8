import { Router, type RequestHandler } from 'express';
import { contract } from '../../platform/contract/contract';
import { readPublished } from '../../platform/contract/published-contract';
import { ERRORS_PATH } from '../../platform/problem-body';
import { errorPage } from '../reply/error-page';
import { sendAsset } from './assets';
import {
  fullDocument,
  operationDocument,
  publishedDocument,
  swaggerDocument,
  tagDocument,
} from './document';
import { introductionPage, tagPage } from './pages';
import { PreparedAnswer, send, sendPrepared } from './prepared';
import { searchIndex } from './search-index';
import { swaggerPage } from './swagger-page';
import { OPERATIONS, ORDERED_TAGS } from './tags';

const json = (document: unknown) =>
  new PreparedAnswer('application/json', JSON.stringify(document));
const html = (text: string) => new PreparedAnswer('text/html', text);

/**
 * The contract as files, Swagger UI to try it and the reference to read it. All of it comes from
 * this server, without a CDN.
 */
export function docs(): Router {
  const router = Router({ strict: true });
  router.get(
    '/api/openapi.yaml',
    send(() => new PreparedAnswer('application/yaml', readPublished(contract.document))),
  );
  const sendPublished = send(() => json(publishedDocument()));
  const sendFull = send(() => json(fullDocument()));
  router.get('/api/openapi.json', (req, res, next) =>
    (req.query.full === '1' ? sendFull : sendPublished)(req, res, next),
  );
  router.get('/api/assets/:version/:name', sendAsset);
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
  router.get('/api/docs/operations/:id.json', sendOperation);
  router.get(
    '/api/docs/search.json',
    send(() => json(searchIndex())),
  );
  reference(router);
  return router;
}

const OPERATIONS_BY_ID = new Map(
  OPERATIONS.flatMap((listed) => (listed.is_event ? [] : [[listed.id, listed] as const])),
);

/** Not kept: those of all operations are ten times the contract. */
const sendOperation: RequestHandler<{ id: string }> = (req, res, next) => {
  const operation = OPERATIONS_BY_ID.get(req.params.id);
  return operation ? sendPrepared(req, res, json(operationDocument(operation))) : next();
};

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
