import { DAY, simulations, type Fields } from '../../support/simulations';

const { ok, buyer, offer, collectErrors } = simulations();

test('requests that cannot be replayed are rejected, naming the field', async () => {
  const [ownBuyer, stranger] = [await buyer(), await buyer()];
  const { id: groupId } = (await ok('post', 'buyer_groups', { name: 'None' })).buyer_group;
  const offerId = await offer({ buyer_ids: [ownBuyer] });
  const day = { offer_id: offerId, ...DAY };
  const synthetic = { calls: 10, ...DAY };
  const changes: Fields[] = [];
  expect(await collectErrors({ offer_id: offerId, changes })).toEqual([
    422,
    { from: ['must be given, or synthetic'] },
  ]);
  expect(await collectErrors({ ...day, synthetic, changes })).toEqual([
    422,
    { synthetic: ['must not be given together with from or to'] },
  ]);
  expect(await collectErrors({ ...day, to: DAY.from, changes })).toEqual([
    422,
    { to: ['must be later than from'] },
  ]);
  expect(await collectErrors({ ...day, from: '2026-04-01T00:00:00Z', changes })).toEqual([
    422,
    { to: ['must be at most 31 days after from'] },
  ]);
  expect(await collectErrors({ ...day, offer_id: 999_999, changes })).toEqual([
    422,
    { offer_id: ['names no record of yours: 999999'] },
  ]);
  expect(await collectErrors({ ...day, changes: [{}] })).toEqual([
    422,
    { 'changes.0': ['must have either buyer_id or buyer_group_id'] },
  ]);
  expect(
    await collectErrors({ ...day, changes: [{ buyer_id: ownBuyer, attempt_hourly_limit: 1 }] }),
  ).toEqual([422, { 'changes.0.attempt_hourly_limit': ['is not a field of a buyer here'] }]);
  expect(
    await collectErrors({ ...day, changes: [{ buyer_group_id: groupId, timeout_seconds: 20 }] }),
  ).toEqual([422, { 'changes.0.timeout_seconds': ['is not a field of a group here'] }]);
  expect(
    await collectErrors({ ...day, changes: [{ buyer_id: ownBuyer }, { buyer_id: ownBuyer }] }),
  ).toEqual([422, { 'changes.1.buyer_id': [`is changed twice: ${ownBuyer}`] }]);
  expect(await collectErrors({ ...day, changes: [{ buyer_id: 999_999 }] })).toEqual([
    422,
    { 'changes.0.buyer_id': ['names no record of yours: 999999'] },
  ]);
  expect(await collectErrors({ ...day, changes: [{ buyer_id: stranger }] })).toEqual([
    422,
    { 'changes.0.buyer_id': [`is no buyer of the offer: ${stranger}`] },
  ]);
  expect(await collectErrors({ ...day, changes: [{ buyer_group_id: groupId }] })).toEqual([
    422,
    { 'changes.0.buyer_group_id': [`is no group of the offer that has buyers: ${groupId}`] },
  ]);
  const many = await Promise.all(Array.from({ length: 11 }, () => buyer()));
  const wide = await offer({ buyer_ids: many });
  expect(
    await collectErrors({ offer_id: wide, synthetic: { ...synthetic, calls: 100_000 }, changes }),
  ).toEqual([
    422,
    {
      'synthetic.calls': [
        'must leave at most 90909 calls to replay, as the offer has 11 buyers: there are 100000',
      ],
    },
  ]);
});
