import type { Fields } from '../../support/records';
import { useWorld } from '../../support/use-world';

// Fields that an alert rule must have, by its kind.

const { api, ok, create, createRecords } = useWorld();

test.each([
  [{ kind: 'cap_used' }, 'percent'],
  [{ kind: 'cap_used', percent: 101 }, 'percent'],
  [{ kind: 'cap_used', percent: 90, minutes: 5 }, 'minutes'],
  [{ kind: 'no_calls' }, 'minutes'],
  [{ kind: 'carrier_errors', minutes: 5 }, 'count'],
  [{ kind: 'webhook_paused', buyer_id: 'buyer' }, 'buyer_id'],
  [{ kind: 'no_calls', minutes: 5, buyer_id: 'buyer', offer_id: 'offer' }, 'offer_id'],
  [{ kind: 'weather' }, 'kind'],
  [{ kind: 'balance_low', emails: ['nobody'] }, 'emails.0'],
])('%j is refused', async (fields: Fields, field) => {
  const { buyer, offer } = await createRecords({
    buyers: { buyer: {} },
    offers: { offer: { buyer_ids: ['buyer'] } },
  });
  const body = {
    name: 'Rule',
    ...fields,
    ...(fields.buyer_id === 'buyer' && { buyer_id: buyer }),
    ...(fields.offer_id === 'offer' && { offer_id: offer }),
  };
  const res = await api('post', 'alert_rules', { body });
  expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
});

test('a change must leave a rule that fits its kind', async () => {
  const id = await create('alert_rules', {
    name: 'Rule',
    kind: 'connect_rate_low',
    percent: 50,
    minutes: 30,
  });
  expect((await ok('get', `alert_rules/${id}`)).alert_rule).toMatchObject({ min_calls: 10 });
  const res = await api('put', `alert_rules/${id}`, { body: { kind: 'no_calls' } });
  expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['percent']]);
  const changes = { kind: 'no_calls', percent: null, min_calls: null };
  expect((await ok('put', `alert_rules/${id}`, changes)).alert_rule).toMatchObject({
    kind: 'no_calls',
    percent: null,
    min_calls: null,
    minutes: 30,
  });
});
