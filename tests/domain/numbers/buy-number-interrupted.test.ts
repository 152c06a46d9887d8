import { randomUUID } from 'node:crypto';
import type { Carrier } from '../../../src/platform/carriers/carrier';
import { computeSignature } from '../../../src/platform/carriers/signature';
import { listInterruptedPurchases, reportPurchases } from '../../../src/main/cli/doctor';
import { addNumber } from '../../../src/domain/numbers/add-number';
import { openTwilio } from '../../platform/carriers/requests';
import { DOWN, GONE, useMarket } from '../../support/numbers';
import { startTwilio, type Trouble, type TwilioServer } from '../../support/twilio-server';
import { buildApp, caller, TWILIO_TOKEN, type Api } from '../../support/world';

const market = useMarket();
const { api, bought, buy, lookups, otherApi, search, show } = market;

describe('a purchase that is cut short', () => {
  /** The database loses the transaction after the carrier has sold. */
  const loseConnections = async () => {
    await market.world.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'`,
    );
    return undefined;
  };

  test('between the sale and the record is finished by the next request of its key', async () => {
    const requestedNumber = '+12125550150';
    market.carrier.trouble.afterSale = loseConnections;
    expect((await buy({ requested_number: requestedNumber })).status).toBe(503);
    expect([
      market.carrier.sold.has(requestedNumber),
      await show(requestedNumber).then(({ status }) => status),
    ]).toEqual([true, 404]);
    expect(await lookups(requestedNumber)).toMatchObject([
      { number_id: null, company_id: String(market.world.company.id) },
    ]);
    market.carrier.trouble.afterSale = undefined;
    await market.world.sql(
      `UPDATE number_lookups SET purchase_tried_at = purchase_tried_at - interval '2 minutes'
        WHERE number_id IS NULL`,
    );
    const startedPurchase = reportPurchases(
      await listInterruptedPurchases(market.world.deps.database.sql),
    );
    const number = await bought({ requested_number: requestedNumber, name: 'at last' });
    expect(number).toMatchObject({
      name: 'at last',
      carrier_number_id: market.carrier.sold.get(requestedNumber)!.id,
    });
    const [first, second] = market.carrier.requests.buy;
    expect(startedPurchase).toMatchObject({
      check: 'numbers',
      ok: false,
      finding: expect.stringContaining(`${requestedNumber} (company ${market.world.company.id})`),
    });
    expect([second!.key, first!.tried_at, second!.tried_at]).toEqual([
      first!.key,
      undefined,
      expect.any(Date),
    ]);
  });

  test('is finished by another company too, when that asks for the number', async () => {
    const requestedNumber = '+12125550151';
    market.carrier.trouble.afterSale = async () => ({ ...DOWN, maybe_sent: true });
    const res = await buy({ requested_number: requestedNumber });
    expect([res.status, res.body.detail]).toEqual([
      503,
      expect.stringContaining('It is not known'),
    ]);
    market.carrier.quiet();
    expect(await bought({ requested_number: requestedNumber }, otherApi)).toMatchObject({
      company_id: Number(market.theirs.id),
    });
    expect((await buy({ requested_number: requestedNumber })).body.errors).toEqual({
      requested_number: [expect.stringContaining('is not for sale')],
    });
    expect(market.carrier.requests.buy).toHaveLength(1);
  });

  test('without a requested number is finished before another number is bought', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    market.carrier.trouble.afterSale = loseConnections;
    expect((await buy({ prefix: '512' }, api, headers)).status).toBe(503);
    const [{ phone_number }] = market.carrier.requests.buy as [{ phone_number: string }];
    market.carrier.quiet();
    const numbers = await Promise.all([
      search({ prefix: '512' }),
      search({ prefix: '512' }, otherApi),
    ]);
    for (const offeredNumbers of numbers) expect(offeredNumbers).not.toContain(phone_number);
    const res = await buy({ prefix: '512' }, api, headers);
    expect([res.status, res.body.number.phone_number]).toEqual([201, phone_number]);
    expect(market.carrier.requests.buy).toMatchObject([
      { phone_number, tried_at: expect.any(Date) },
    ]);
  });

  test('and that the carrier refuses when it is taken up is given back', async () => {
    const requestedNumber = '+12125550152';
    market.carrier.trouble.buy = { ...DOWN, maybe_sent: true };
    expect((await buy({ requested_number: requestedNumber })).status).toBe(503);
    expect(await lookups(requestedNumber)).toHaveLength(1);
    market.carrier.trouble.buy = GONE;
    expect((await buy({ requested_number: requestedNumber })).status).toBe(422);
    expect(await lookups(requestedNumber)).toEqual([]);
  });

  test('is also finished by adding the number', async () => {
    const requestedNumber = '+12125550154';
    market.carrier.trouble.buy = { ...DOWN, maybe_sent: true };
    await buy({ requested_number: requestedNumber });
    const number = {
      phone_number: requestedNumber,
      country: 'US',
      toll_free: false,
      carrier: 'sandbox',
      carrier_number_id: null,
    } as const;
    const add = () =>
      market.world.deps.tenants
        .of(market.theirs.id)
        .transaction((tx) => addNumber(tx, number, new Date()));
    const id = await add();
    expect(await lookups(requestedNumber)).toMatchObject([
      { number_id: String(id), company_id: String(market.theirs.id), purchase_key: null },
    ]);
    await expect(add()).rejects.toThrow('phone_number already belongs to a company');
  });

  test('gives the number no owner: calls to it belong to no company', async () => {
    const requestedNumber = '+12125550153';
    market.carrier.trouble.buy = { ...DOWN, maybe_sent: true };
    await buy({ requested_number: requestedNumber });
    const at = '/api/v1/telephony/sms';
    const params = {
      MessageSid: `SM${'1'.repeat(32)}`,
      From: '+13105550123',
      To: requestedNumber,
      Body: 'hi',
    };
    const signature = computeSignature(
      TWILIO_TOKEN,
      market.world.deps.config.public_url + at,
      params,
    );
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Twilio-Signature': signature,
    };
    expect(
      (await api('post', at, { auth: null, headers, body: new URLSearchParams(params).toString() }))
        .status,
    ).toBe(404);
    market.carrier.quiet();
    await bought({ requested_number: requestedNumber });
    expect(
      (await api('post', at, { auth: null, headers, body: new URLSearchParams(params).toString() }))
        .status,
    ).toBe(200);
  });
});

describe('at a carrier outside', () => {
  let twilio: TwilioServer;
  let by: Api;
  /** It soon gives up a sale or a release that is not answered. */
  let byHasty: Api;
  beforeAll(async () => {
    twilio = await startTwilio(['+16175550110', '+16175550111']);
    const callBy = (carrier: Carrier) =>
      caller(buildApp({ ...market.world.deps, carrier }), market.world.company.auth);
    const carrier = openTwilio(twilio);
    const { buyNumber, releaseNumber } = openTwilio(twilio, { timeout_ms: 300 });
    by = callBy(carrier);
    byHasty = callBy({ ...carrier, buyNumber, releaseNumber });
  });
  afterAll(() => twilio.close());

  test.each<Trouble>(['break after accepting', 'hang after accepting'])(
    'a sale that is not answered («%s») is one, and can be given back',
    async (trouble) => {
      twilio.trouble([trouble], 'POST');
      const cut = await buy({ prefix: '617' }, byHasty);
      expect([cut.status, cut.headers['retry-after'], twilio.numbers.length]).toEqual([
        503,
        '5',
        1,
      ]);
      const number = await bought({ prefix: '617' }, by);
      expect(number).toMatchObject({
        carrier: 'twilio',
        sandbox: false,
        phone_number: twilio.numbers[0]!.phone_number,
        carrier_number_id: twilio.numbers[0]!.sid,
      });
      expect(twilio.numbers).toHaveLength(1);
      twilio.trouble([trouble], 'DELETE');
      const path = `phone_numbers/${number.id}`;
      expect([(await byHasty('delete', path)).status, (await by('get', path)).status]).toEqual([
        503, 200,
      ]);
      expect([
        (await by('delete', path)).status,
        (await by('get', path)).status,
        twilio.numbers,
      ]).toEqual([200, 404, []]);
    },
  );
});
