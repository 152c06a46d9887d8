import { createDeps } from '../../../src/operate/installation/deps';
import {
  newPath,
  loadOutcomes,
  queueWebhook,
  type Received,
  receiver,
  run,
  setUp,
  startReceiver,
  listReceived,
  world,
} from '../../support/action-webhooks';
import { testConfig } from '../../support/world';

setUp();

describe('the webhook of an action', () => {
  test('has the lead as JSON, unless the action has a body', async () => {
    const path = newPath();
    const job = await queueWebhook(path, {}, { first_name: 'Ann', age: 40 });
    await run(job);
    const [{ method, headers, body }] = listReceived(path) as [Received];
    const { lead } = (await world.company.api('get', `leads/${job.lead_id}`)).body;
    const { id, uuid, caller_id, email, offer_id, schedule_id } = lead;
    expect([method, headers['content-type'], headers['webhook-id']]).toEqual([
      'POST',
      'application/json',
      `lead_log_${job.lead_log_id}`,
    ]);
    expect(JSON.parse(body)).toEqual({
      lead_id: id,
      uuid,
      caller_id,
      email,
      offer_id,
      schedule_id,
      status: lead.status,
      data: { first_name: 'Ann', age: 40 },
    });
    const [{ event, details, schedule_action_id }] = (await loadOutcomes(job)) as [
      Awaited<ReturnType<typeof loadOutcomes>>[0],
    ];
    expect([event, schedule_action_id]).toEqual(['webhook_delivered', job.schedule_action_id]);
    expect(details).toMatchObject({
      tries: 1,
      code: 200,
      response_body: 'thanks',
      duration_ms: expect.any(Number),
    });
  });

  const nasty = 'A"n\\n\r\nX: 1 &x=Ł/..%';
  const QUERY = encodeURIComponent(nasty);
  const LATIN = Buffer.from('A"n\\n X: 1 &x=Ł/..%').toString('latin1');
  test.each<[string, object, Partial<Received> | object]>([
    [
      'a body of JSON has its tokens escaped',
      { body: '{"name": "{{name}}", "city": "[city]{no {where}"}' },
      {
        body: JSON.stringify({ name: nasty, city: 'no {where' })
          .replaceAll(':', ': ')
          .replace('X: ', 'X:')
          .replace(',"', ', "'),
      },
    ],
    [
      'a body of JSON by its type too',
      { body: '"{{name}}"', headers: { 'content-type': 'application/vnd.x+json' } },
      { body: JSON.stringify(nasty), headers: { 'content-type': 'application/vnd.x+json' } },
    ],
    [
      'a form has its tokens encoded',
      {
        body: 'name={{name}}&x=2',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      },
      { body: `name=${QUERY}&x=2` },
    ],
    [
      'a text that begins with a token is text',
      { body: '{{name}} called' },
      { body: `${nasty} called`, headers: { 'content-type': 'text/plain; charset=utf-8' } },
    ],
    [
      'so is one that begins with a token and its default',
      { body: '[name]{x} called' },
      { body: `${nasty} called`, headers: { 'content-type': 'text/plain; charset=utf-8' } },
    ],
    [
      'a list is JSON',
      { body: '[{{age}}, "{{name}}"]' },
      { body: `[40, ${JSON.stringify(nasty)}]`, headers: { 'content-type': 'application/json' } },
    ],
    [
      'its headers have no line breaks',
      { headers: { 'X-Name': '{{name}}', 'X-Plain': 'é [gone]{there}' } },
      { headers: { 'x-name': LATIN, 'x-plain': 'é there' } },
    ],
    [
      'it carries its own Webhook-Id alone',
      { headers: { 'webhook-id': 'mine' } },
      { headers: { 'webhook-id': expect.stringMatching(/^lead_log_\d+$/) } },
    ],
    [
      'GET has no body, nor what would describe one',
      { method: 'get', body: '{"a": 1}' },
      { method: 'GET', body: '' },
    ],
    ['DELETE neither', { method: 'delete' }, { method: 'DELETE', body: '' }],
    ['PUT has one', { method: 'put', body: 'x' }, { method: 'PUT', body: 'x' }],
  ])('%s', async (_name, action, expected) => {
    const path = newPath();
    await run(await queueWebhook(path, action, { name: nasty, age: 40 }));
    expect(listReceived(path)).toMatchObject([expected]);
    if (['GET', 'DELETE'].includes((expected as Received).method))
      expect(listReceived(path)[0]!.headers).not.toHaveProperty('content-type');
  });

  test('its URL has tokens encoded, wherever they stand', async () => {
    const path = newPath();
    await run(
      await queueWebhook(
        `${path}/{{name}}/x?name={{name}}&city=[city]{none}`,
        { method: 'get' },
        { name: '../a b&c=d#e' },
      ),
    );
    const encoded = encodeURIComponent('../a b&c=d#e');
    expect(listReceived(path).map((request) => request.path)).toEqual([
      `${path}/${encoded}/x?name=${encoded}&city=none`,
    ]);
  });

  test('is delivered whatever the answer is', async () => {
    const job = await queueWebhook('/odd/1');
    await run(job);
    expect(await loadOutcomes(job)).toMatchObject([
      { event: 'webhook_delivered', details: { response_body: `\ufffd${'x'.repeat(998)}🙂` } },
    ]);
  });

  test('a redirect is not followed, and is no delivery', async () => {
    const job = await queueWebhook('/moved/1');
    await expect(run(job)).rejects.toThrow('answered 302');
    expect([listReceived('/elsewhere'), await loadOutcomes(job)]).toEqual([[], []]);
  });
});

describe('what is not delivered', () => {
  test('because nothing listens is tried again too', async () => {
    const job = await queueWebhook(newPath());
    const closedReceiver = await startReceiver();
    await closedReceiver.close();
    await world.sql('UPDATE schedule_actions SET url = $2 WHERE id = $1', [
      job.schedule_action_id,
      `http://127.0.0.1:${closedReceiver.port}/`,
    ]);
    for (let tries = 1; tries < 5; tries++) await expect(run(job)).rejects.toThrow();
    await run(job);
    expect(await loadOutcomes(job)).toMatchObject([
      { event: 'webhook_failed', details: { tries: 5, reason: 'connection refused' } },
    ]);
  });

  test.each([
    '127.0.0.2',
    '0x7f.0.0.2',
    '[::1]',
    '[::ffff:127.0.0.2]',
    '10.255.255.1',
    '169.254.169.254',
  ])('to %s, which is not allowed, is given up at once without a connection', async (host) => {
    const job = await queueWebhook(newPath());
    await world.sql('UPDATE schedule_actions SET url = $2 WHERE id = $1', [
      job.schedule_action_id,
      `http://${host}:${receiver.port}/`,
    ]);
    const before = receiver.state.connections;
    await run(job);
    expect(receiver.state.connections).toBe(before);
    expect(await loadOutcomes(job)).toMatchObject([
      { event: 'webhook_failed', message: 'refused_address', details: { tries: 1 } },
    ]);
  });

  test('because its network is allowed no more, is given up', async () => {
    const strict = createDeps({ config: testConfig(), database_url: world.url });
    const job = await queueWebhook(newPath());
    await run(job, { deps: strict });
    await strict.database.close();
    expect(await loadOutcomes(job)).toMatchObject([
      { event: 'webhook_failed', message: 'refused_address' },
    ]);
  });
});
