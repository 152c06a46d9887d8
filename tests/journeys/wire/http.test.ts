import request from 'supertest';
import { useWorld } from '../../support/use-world';
import { basic } from '../../support/world';

// Parts of the server in addition to the operations of the contract.

const METRICS_TOKEN = 'a-token-of-the-metrics';
const world = useWorld({
  environment: { CORS_ORIGINS: 'https://app.example.com', METRICS_TOKEN },
});

const raw = () => request(world.app);

test('the contract is served as YAML and JSON, and Swagger UI from this server alone', async () => {
  expect((await raw().get('/api/openapi.yaml')).text).toContain('openapi: 3.1.0');
  expect((await raw().get('/api/openapi.json')).body.info.title).toBe('Trunkline');
  const page = await raw().get('/api/docs/');
  expect(page.status).toBe(200);
  expect(page.text).not.toMatch(/(src|href)="https?:/);
});

test('livez, readyz and metrics', async () => {
  expect([(await raw().get('/livez')).status, (await raw().get('/readyz')).status]).toEqual([
    200, 200,
  ]);
  await world.company.api('get', 'me');
  const metrics = await raw().get('/metrics').set('Authorization', `Bearer ${METRICS_TOKEN}`);
  expect(metrics.text).toMatch(
    /request_duration_seconds_count\{operation="showMe",method="GET",status_class="2xx"\} \d+/,
  );
});

test('CORS allows only configured origins', async () => {
  const preflight = (origin: string) =>
    raw().options('/api/v1/buyers').set({ Origin: origin, 'Access-Control-Request-Method': 'GET' });
  expect((await preflight('https://app.example.com')).headers['access-control-allow-origin']).toBe(
    'https://app.example.com',
  );
  expect(
    (await preflight('https://evil.example.com')).headers['access-control-allow-origin'],
  ).toBeUndefined();
});

test('large responses are compressed for clients that accept it', async () => {
  const res = await raw()
    .get('/api/v1/collections/time_zone')
    .set('Authorization', basic(world.company.auth))
    .set('Accept-Encoding', 'gzip');
  expect(res.headers['content-encoding']).toBe('gzip');
});
