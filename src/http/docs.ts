import { Router } from 'express';
import { serve, setup } from 'swagger-ui-express';
import { contract } from '../contract';
import { errorPage, ERRORS_PATH } from './error-page';

/** The contract as files, and Swagger UI for it: all from this server, without a CDN. */
export function docs(): Router {
  const router = Router();
  const json = JSON.stringify(contract.document);
  router.get(
    '/api/openapi.yaml',
    (_req, res) => void res.type('application/yaml').send(contract.text),
  );
  router.get('/api/openapi.json', (_req, res) => void res.type('application/json').send(json));
  router.get(ERRORS_PATH, errorPage());
  const options = {
    customSiteTitle: 'Trunkline API',
    swaggerOptions: {
      url: '/api/openapi.json',
      persistAuthorization: true,
      displayRequestDuration: true,
      docExpansion: 'none',
      filter: true,
      tryItOutEnabled: true,
    },
  };
  router.use('/api/docs', serve, setup(undefined, options));
  return router;
}
