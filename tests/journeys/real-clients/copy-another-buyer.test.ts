import { useWorld } from '../../support/use-world';

const world = useWorld();
const { api } = world;
let source: Record<string, unknown> & { id: number };
beforeAll(async () => {
  // Ids 0 and 1 are booleans: the buyer to copy has another.
  await create({ name: 'First' });
  source = (await create({ name: 'Source', user_buyer_id: 'seller-7', timeout_seconds: 33 })).body
    .buyer;
});

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const create = (body: unknown, headers: Record<string, string> = {}) =>
  api('post', 'buyers', { body, headers });
const refusal = async (body: object) => {
  const res = await create(body);
  return [res.status, Object.keys(res.body.errors)];
};

describe('copy_another_buyer is a flag', () => {
  test.each([false, 'false', 0, '0', '', null, 'no', 'Off'])(
    '%p copies nothing',
    async (copyAnotherBuyer) => {
      const res = await create({ copy_another_buyer: copyAnotherBuyer, name: 'Own' });
      expect([res.status, res.body.buyer?.timeout_seconds]).toEqual([201, 120]);
    },
  );

  test.each([true, 'true', 1, '1', 'YES', 'on'])(
    '%p copies the buyer of copy_buyer_id, or of buyer_id',
    async (copyAnotherBuyer) => {
      for (const field of ['copy_buyer_id', 'buyer_id']) {
        const res = await create({
          copy_another_buyer: copyAnotherBuyer,
          [field]: source.id,
          name: 'Copy',
        });
        expect([res.status, res.body.buyer?.timeout_seconds, res.body.buyer?.name]).toEqual([
          201,
          33,
          'Copy',
        ]);
      }
    },
  );

  test('in a form too', async () => {
    const form = `copy_another_buyer=true&buyer_id=${source.id}`;
    expect((await create(form, FORM)).body.buyer.timeout_seconds).toBe(33);
    expect((await create('copy_another_buyer=&name=Own', FORM)).body.buyer.timeout_seconds).toBe(
      120,
    );
  });

  test('false with a buyer copies nothing', async () => {
    const res = await create({ copy_another_buyer: false, copy_buyer_id: source.id });
    expect([res.status, res.body.buyer.timeout_seconds]).toEqual([201, 120]);
  });

  test('true without a buyer, and a buyer without true, are refused on the field', async () => {
    expect(await refusal({ copy_another_buyer: true })).toEqual([422, ['copy_buyer_id']]);
    expect(await refusal({ copy_buyer_id: source.id })).toEqual([422, ['copy_buyer_id']]);
    expect(await refusal({ copy_another_buyer: true, copy_buyer_id: 999_999 })).toEqual([
      422,
      ['copy_buyer_id'],
    ]);
    expect(await refusal({ copy_another_buyer: source.id, copy_buyer_id: source.id })).toEqual([
      422,
      ['copy_another_buyer'],
    ]);
  });
});

test('asks for the permissions of what it copies only where it copies', async () => {
  const auth = await world.credentials(world.company, ['buyers:create']);
  const status = async (body: object) => (await api('post', 'buyers', { body, auth })).status;
  expect(await status({ name: 'Own', copy_another_buyer: false })).toBe(201);
  expect(await status({ name: 'Own', copy_another_buyer: '' })).toBe(201);
  expect(await status({ copy_another_buyer: source.id })).toBe(422);
  expect(await status({ copy_another_buyer: true, copy_buyer_id: source.id })).toBe(422);
});

test('a bare id, uuid or user id still names the buyer to copy', async () => {
  for (const copyAnotherBuyer of [
    source.id,
    String(source.id),
    source.uuid,
    source.user_buyer_id,
  ]) {
    const res = await create({ copy_another_buyer: copyAnotherBuyer });
    expect([res.status, res.body.buyer?.timeout_seconds]).toEqual([201, 33]);
  }
  expect(await refusal({ copy_another_buyer: 'nobody' })).toEqual([422, ['copy_another_buyer']]);
});
