import request from 'supertest';
import {
  contract,
  facets,
  type Operation,
  type Schema,
} from '../../../src/platform/contract/contract';
import { useWorld } from '../../support/use-world';
import { basic } from '../../support/world';

// Input that is accepted beyond openapi.yaml, because SDKs can only send one spelling: each
// extension that declares it is tried.

const world = useWorld();
const { api, createRecord } = world;

/** Every field of every body with what it accepts beyond its type. */
function listAcceptingFields(type: string): string[] {
  const paths = new Set<string>();
  const look = (schema: Schema, path: string, depth: number): void => {
    if (depth > 6) return;
    for (const [name, field] of Object.entries(facets(schema).properties)) {
      const { accepts, items } = facets(field);
      if (accepts.has(type)) paths.add(`${path}.${name}`);
      if (items && facets(items).accepts.has(type)) paths.add(`${path}.${name}`);
      look(items ?? field, `${path}.${name}`, depth + 1);
    }
  };
  for (const { id, body } of contract.operations as Operation[]) if (body) look(body, id, 0);
  return [...paths];
}

test('a reference is a text; its number is accepted as the same', async () => {
  expect(listAcceptingFields('integer').length).toBeGreaterThan(60);
  const offer = await createRecord('offers', { name: 'Auto' });
  const buyer = await createRecord('buyers', { name: 'Acme', number: '+13105550101' });
  for (const spelled of [offer.id, String(offer.id), offer.uuid]) {
    const schedule = await createRecord('schedules', { name: `S ${spelled}`, offer_id: spelled });
    expect(schedule).toMatchObject({ offer_id: offer.id });
  }
  for (const spelled of [buyer.id, String(buyer.id), buyer.uuid]) {
    const res = await api('put', `offers/${offer.id}`, { body: { buyer_ids: [spelled] } });
    expect(res.body.offer.buyer_ids).toEqual([buyer.id]);
  }
  for (const wrong of [1.5, true, {}, [1]]) {
    const res = await api('post', 'schedules', { body: { name: 'No', offer_id: wrong } });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['offer_id']]);
  }
});

test('a telephone number may be sent as a number', async () => {
  const list = await createRecord('buyer_suppressions', { name: 'Do not call' });
  const res = await api('post', `buyer_suppressions/${list.id}/caller_block`, {
    body: { caller_ids: [3105550123, '+12125550145'] },
  });
  expect([res.status, res.body.accepted, res.body.rejected]).toEqual([200, 2, []]);
});

test('headers may also be called csv_headers, and be a list or a text', async () => {
  for (const [name, headers] of [
    ['headers', ['phone', 'name']],
    ['csv_headers', ['phone', 'name']],
    ['headers', 'phone,name'],
    ['headers[]', ['phone', 'name']],
  ] as const) {
    const res = await api('post', 'buyer_suppressions', {
      body: { name: `List ${name}`, [name]: headers },
    });
    expect([res.status, res.body.buyer_suppression?.headers]).toEqual([201, ['phone', 'name']]);
  }
  const form = { headers: 'phone,name', import_file: Buffer.from('3105550123,Ann\n') };
  const file = await api('post', 'buyer_suppression_files', { form });
  expect([file.status, file.body.buyer_suppression_file.headers]).toEqual([201, ['phone', 'name']]);
});

test('a form and a multipart form are read like JSON where x-also-accepts names them', async () => {
  const send = () =>
    request(world.app).post('/api/v1/offers').set('Authorization', basic(world.company.auth));
  expect((await send().type('form').send({ name: 'By form' })).body.offer.name).toBe('By form');
  const byMultipart = await send().field('name', 'By multipart');
  expect(byMultipart.body.offer.name).toBe('By multipart');
  const list = await request(world.app)
    .post('/api/v1/buyer_suppressions')
    .set('Authorization', basic(world.company.auth))
    .field('name', 'With a file')
    .attach('import_file', Buffer.from('phone\n3105550123\n'), 'numbers.csv');
  expect([list.status, list.body.buyer_suppression.import_file_url !== null]).toEqual([201, true]);
  const json = await api('post', 'buyer_suppression_files', {
    body: { name: 'No file', import_file: 'phone' },
  });
  expect([json.status, Object.keys(json.body.errors)]).toEqual([422, ['import_file']]);
});

test('a blank auth_token is none, and a blank choice is none', async () => {
  expect((await api('get', 'buyers?auth_token=')).status).toBe(200);
  const file = await api('post', 'buyer_suppression_files', {
    body: { name: 'Blank', apply_block_or_unblock: '' },
  });
  expect(file.body.buyer_suppression_file.apply_block_or_unblock).toBe('block');
});

test('CSV is answered only where it is preferred to JSON', async () => {
  const typeFor = async (Accept: string) =>
    (await api('get', 'buyers', { headers: { Accept } })).headers['content-type']?.split(';')[0];
  expect(await typeFor('text/csv')).toBe('text/csv');
  expect(await typeFor('application/json;q=0.5,text/csv')).toBe('text/csv');
  expect(await typeFor('application/json,application/problem+json;q=0.9,text/csv;q=0.8')).toBe(
    'application/json',
  );
});
