import { mkdtempSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { findNumbers } from '../../../src/domain/numbers/find-numbers';
import { openS3 } from '../../../src/platform/storage/s3';
import { StorageUnavailable } from '../../../src/platform/storage/storage';
import { ago, call, FROM, openTwilio, sms, TO } from '../../platform/carriers/requests';
import { pour } from '../../support/odd-service';
import { startS3, type S3Server } from '../../support/s3-server';
import { startTwilio, type TwilioServer } from '../../support/twilio-server';
import { useWorld } from '../../support/use-world';

// The attack: a carrier or a bucket answers a request for a list with what is none, with one that
// never ends, with more than fits into memory, or with the records of others.

describe('a carrier', () => {
  let server: TwilioServer;
  beforeAll(async () => {
    server = await startTwilio();
  });
  afterAll(() => server.close());

  /** Answers the n-th request for something. */
  const answer = (...texts: string[]) =>
    server.trouble(
      texts.map((text) => ({ status: 200, text })),
      'GET',
    );
  const UNUSABLE = { ok: false, code: 'unavailable', retryable: true, maybe_sent: true };

  test.each(['{}', '{"messages":{}}', '{"messages":[null]}', '{"messages":[[]]}'])(
    'that answers %s instead of its messages is not sent one twice',
    async (text) => {
      answer(text);
      const outcome = await openTwilio(server).sendSms(sms({ tried_at: ago(1_000) }));
      expect(outcome).toEqual({
        ...UNUSABLE,
        message: "The carrier's answer has no list of messages.",
      });
      expect(server.messages).toEqual([]);
    },
  );

  test.each([
    ['{"sid":"CA1","price":"-1"}', '{}', 'has no list of calls'],
    ['{"sid":"CA1","price":"-1"}', '{"calls":[null]}', 'has no list of calls'],
    [
      '{"sid":"CA1","price":"-1"}',
      '{"calls":[{"parent_call_sid":"CA1"}]}',
      'has a call without sid',
    ],
    ['{"price":"-1"}', '{"calls":[]}', 'has a call without sid'],
    ['{"sid":"CA\\u00001"}', '{"calls":[]}', 'has a call without sid'],
  ])('whose legs are %s and %s has not said what a call costs', async (ownCall, legs, fault) => {
    answer(ownCall, legs);
    expect(await openTwilio(server).findLegs('CA1')).toEqual({
      ...UNUSABLE,
      message: `The carrier's answer ${fault}.`,
    });
  });

  test('sells no numbers that are none', async () => {
    const records = [{}, { phone_number: null }, { phone_number: '+12025550110' }];
    answer(JSON.stringify({ available_phone_numbers: records }));
    expect(await openTwilio(server).searchNumbers({ country: 'US' })).toMatchObject({
      ok: true,
      numbers: [{ phone_number: '+12025550110' }],
    });
    answer('{"available_phone_numbers":[null]}');
    expect(await openTwilio(server).searchNumbers({ country: 'US' })).toMatchObject(UNUSABLE);
  });

  test('is not read beyond ten megabytes', async () => {
    answer(`{"available_phone_numbers":[${'[],'.repeat(4_000_000)}{}]}`);
    expect(await openTwilio(server).searchNumbers({ country: 'US' })).toEqual({
      ...UNUSABLE,
      message: "The carrier's answer has more than 10000000 bytes.",
    });
  });
});

describe('a carrier that ignores the filters of its lists', () => {
  let server: TwilioServer;
  beforeEach(async () => {
    server = await startTwilio();
    server.ignores_filters = true;
  });
  afterEach(() => server.close());

  const since = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
  const leg = (sid: string, more: object = {}) => ({
    ...{ sid, status: 'completed', price: '-0.01', price_unit: 'USD' },
    ...{ parent_call_sid: 'CA1', date_created: since(-50) },
    ...more,
  });
  const findLegIds = async () => {
    const legs = await openTwilio(server).findLegs('CA1');
    return legs.ok ? legs.legs.map(({ carrier_call_id }) => carrier_call_id) : legs.message;
  };

  test('adds no leg of a stranger to the cost of a call', async () => {
    server.calls.push(
      leg('CA9', { parent_call_sid: 'CA7' }),
      leg('CA3'),
      leg('CA8', { parent_call_sid: null }),
      leg('CA2'),
      leg('CA1', { parent_call_sid: null, date_created: since(-60) }),
    );
    expect(await findLegIds()).toEqual(['CA1', 'CA3', 'CA2']);
  });

  test('has the legs of a call on a later page, and is read no further than needed', async () => {
    server.max_page_size = 2;
    const strangers = (count: number, seconds: number) =>
      Array.from({ length: count }, (_, n) =>
        leg(`CA${100 + n - seconds}`, { parent_call_sid: 'CA7', date_created: since(seconds) }),
      );
    const ownCall = leg('CA1', { parent_call_sid: null, date_created: since(-60) });
    server.calls.push(...strangers(5, -10), leg('CA2'), ownCall, ...strangers(9, -90));
    expect(await findLegIds()).toEqual(['CA1', 'CA2']);
    expect(server.requests.filter(({ path }) => path === 'Calls')).toHaveLength(4);
    server.calls.unshift(...strangers(40, -5));
    expect(await findLegIds()).toBe("The carrier's answer has more than 20 pages of calls.");
  });

  test('is not believed to have placed, or sent, what it did for others', async () => {
    const record = { direction: 'outbound-api', date_created: since(0), body: sms().body };
    const others = [
      { ...record, sid: 'CA1', from: FROM, to: '+13105550151' },
      { ...record, sid: 'CA2', from: '+12025550198', to: TO },
      { ...record, sid: 'CA3', from: TO, to: FROM },
    ];
    server.calls.push(...others);
    server.messages.push(...others);
    for (const outcome of [
      await openTwilio(server).placeCall(call({ tried_at: ago(1_000) })),
      await openTwilio(server).sendSms(sms({ tried_at: ago(1_000) })),
    ])
      expect(outcome).toMatchObject({ ok: true, carrier_id: expect.stringMatching(/^..\w{32}$/) });
    const ownCall = { ...record, sid: 'CA4', from: FROM.slice(1), to: TO, status: 'ringing' };
    server.calls.splice(0, Infinity, ...others, ownCall);
    expect(await openTwilio(server).placeCall(call({ tried_at: ago(1_000) }))).toMatchObject({
      carrier_id: 'CA4',
    });
  });
});

describe('a carrier that sells ever other numbers that are held', () => {
  const world = useWorld();

  test('is not asked for ever', async () => {
    await world.sql(
      `INSERT INTO number_lookups (phone_number, company_id, purchase_key, purchase_tried_at)
       SELECT 12025550000 + n, $1, gen_random_uuid(), now() FROM generate_series(1, 150) n`,
      [world.company.id],
    );
    let searches = 0;
    const searchNumbers = async () => {
      const phoneNumber = `+${12_025_550_000 + (searches += 1)}`;
      return {
        ok: true as const,
        numbers: [{ phone_number: phoneNumber, country: 'US', toll_free: false }],
      };
    };
    const carrier = { ...world.deps.carrier, searchNumbers };
    const db = world.deps.tenants.of(BigInt(world.company.id));
    const result = await findNumbers(db, { country: 'US' }, { carrier, now: new Date() });
    expect([result, searches]).toEqual([{ ok: true, numbers: [] }, 100]);
  });
});

describe('a bucket', () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await startS3();
  });
  afterAll(() => s3.close());

  async function listAll(): Promise<number> {
    const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 's3-'));
    const storage = openS3({ folder, reserve_bytes: 0 }, s3.settings);
    let count = 0;
    for await (const keys of storage.keysOlderThan(0)) count += keys.length;
    return count;
  }
  const list = (names: string[], token: string | undefined): string =>
    '<?xml version="1.0"?><ListBucketResult>' +
    names
      .map((name) => `<Contents><Key>files/${name}</Key><Size>1</Size></Contents>`)
      .join('')
      .concat(token === undefined ? '' : `<NextContinuationToken>${token}</NextContinuationToken>`)
      .concat('</ListBucketResult>');
  /** Answers the n-th request with this page. */
  const answer = (page: (n: number, res: ServerResponse) => unknown) => {
    s3.forget();
    s3.hook = (_req, res) => {
      const text = page(s3.requests().length, res);
      if (typeof text === 'string')
        res.writeHead(200, { 'Content-Type': 'application/xml' }).end(text);
      return true;
    };
  };

  test.each<[string, (n: number) => string, number]>([
    ['gives the same token again', (n) => list([`name-${n}`], 'token'), 2],
    ['gives tokens in a circle', (n) => list([`name-${n}`], `token-${n % 3}`), 4],
    ['gives the same names again', (n) => list(['name'], `token-${n}`), 2],
    ['gives ever more empty pages', (n) => list([], `token-${n}`), 100],
  ])('that %s ends the list of its objects', async (_, page, requests) => {
    answer(page);
    await expect(listAll()).rejects.toThrow(
      new StorageUnavailable('the bucket cannot be used: its list of objects never ends'),
    );
    expect(s3.requests()).toHaveLength(requests);
  });

  test('whose list ends is read to its end', async () => {
    answer((n) => list([`name-${n}`], n < 5 ? `token-${n}` : undefined));
    await listAll();
    expect(s3.requests()).toHaveLength(5);
  });

  test('is not read beyond ten megabytes of a list', async () => {
    let socket: Socket | undefined;
    answer((_, res) => {
      res.writeHead(200, { 'Content-Type': 'application/xml' });
      socket = res.socket!;
      pour(res, Buffer.alloc(1_000_000, '<ListBucketResult>'), 450);
    });
    await expect(listAll()).rejects.toThrow('has more than 10000000 bytes');
    expect(s3.requests()).toHaveLength(1);
    expect(socket!.bytesWritten).toBeLessThan(100_000_000);
  });
});
