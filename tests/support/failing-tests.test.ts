import request from 'supertest';
import express from 'express';
import { onTestEvent } from './worker/answers';

const app = express();
app.get('/ok', (_req, res) => void res.send('fine'));
app.get('/away', (_req, res) => void res.status(503).send('the reason'));

test('a test that fails prints status and body of the last errors and of the last answer', async () => {
  await request(app).get('/away?page=2');
  await Promise.all([request(app).get('/ok'), request(app).get('/ok')]);
  const error = new Error('expected 200');
  onTestEvent({ name: 'test_fn_failure', error });
  expect(error.stack).toMatch(
    /^Error: expected 200\n\n.*its last answer:\n {2}503 GET \/away\?page=2\n +the reason\n {2}200 GET \/ok\n +fine\n\n\s+at /,
  );
  onTestEvent({ name: 'test_start' });
  const next = new Error('of the next test');
  onTestEvent({ name: 'test_fn_failure', error: next });
  expect(next.stack).toMatch(/^Error: of the next test\n\s+at /);
});
