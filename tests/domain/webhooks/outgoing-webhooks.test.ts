import { useWorld } from '../../support/use-world';

const world = useWorld({ receiver: true, webhooks: true });
const { hook, ok } = world;

describe('a webhook is refused', () => {
  const post = async (fields: object) => {
    const body = { name: 'Hook', trigger_type: 'every_call', url: 'https://crm.example.com/' };
    const res = await world.api('post', 'outgoing_webhooks', { body: { ...body, ...fields } });
    return res.body.errors;
  };
  test.each<[string, object, string]>([
    ['an owner without its id', { owner_type: 'Offer' }, 'owner_id'],
    ['a company with one', { owner_id: 1 }, 'owner_id'],
    ['an owner that does not exist', { owner_type: 'Buyer', owner_id: 999999 }, 'owner_id'],
    ['a private address', { url: 'http://10.0.0.1/' }, 'url'],
    ['a host of tokens', { url: 'https://{{host}}/' }, 'url'],
    ['a header of the service', { headers: { 'Webhook-Signature': 'x' } }, 'headers'],
    ['a header of HTTP', { headers: { 'Content-Length': '5' } }, 'headers'],
    ['too little time', { timeout_seconds: 2 }, 'timeout_seconds'],
    [
      'too much time for a pre-dial request',
      { trigger_type: 'before_buyer_dialled', timeout_seconds: 4 },
      'timeout_seconds',
    ],
    ['a redirect as success', { success_codes: [200, 302] }, 'success_codes'],
    ['two addresses', { alert_email: 'a@b.example, c@d.example' }, 'alert_email'],
    ['a malformed filter', { record_token_filter_list: ['=x'] }, 'record_token_filter_list'],
  ])('with %s', async (_, fields, field) => {
    expect(Object.keys(await post(fields)).map((name) => name.split(/[.[]/)[0])).toEqual([field]);
  });
});

test('a blank field of a webhook gets its default back', async () => {
  const webhook = await hook('before_buyer_dialled', {
    retries: 3,
    success_codes: [202],
    method: 'put',
  });
  const { outgoing_webhook } = await ok('put', `outgoing_webhooks/${webhook.id}`, {
    trigger_type: 'manual',
    retries: '',
    success_codes: '',
    method: null,
    timeout_seconds: '',
  });
  expect(outgoing_webhook).toMatchObject({
    trigger_type: 'manual',
    retries: 9,
    success_codes: [],
    method: 'post',
    timeout_seconds: 15,
    secret_version: 1,
  });
  expect(outgoing_webhook).not.toHaveProperty('secret');
});
