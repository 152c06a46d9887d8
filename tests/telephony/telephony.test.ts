import { setTimeout } from 'node:timers/promises';
import { signatureOf } from '../../src/carriers/signature';
import { standingClock } from '../support/clock';
import { NOON, openShop, ownNumber, type Shop } from '../support/leads';
import { createWorld, TWILIO_TOKEN, type Company, type World } from '../support/world';

const PUBLIC_URL = 'https://calls.example.com';
const US = '+12125550100';
let world: World;
let shop: Shop;
const time = standingClock(NOON);
beforeAll(async () => {
  // Each refused signature counts against the address it came from.
  world = await createWorld({ clock: time.read, environment: { PUBLIC_URL, TRUST_PROXY: '1' } });
  shop = await openShop(world, [{ action_type: 'wait', wait_amount: 1, wait_unit: 'days' }]);
});
afterAll(() => world.close());
beforeEach(() => time.set(NOON));

type Params = Record<string, string>;
let sent = 0;
const sid = (kind = 'SM') => `${kind}${String(++sent).padStart(32, '0')}`;
const newNumber = () => `+1310777${1000 + ++sent}`;

interface Signed {
  token?: string;
  /** What was signed, where that is not what is sent. */
  url?: string;
  params?: Params;
  headers?: Params;
  to?: World;
}
/** Sends what the carrier would, signed as it would. */
function hook(
  at: string,
  params: Params,
  {
    token = TWILIO_TOKEN,
    url = at,
    params: signed = params,
    headers = {},
    to = world,
  }: Signed = {},
) {
  const signature = signatureOf(
    token,
    `${url.startsWith('http') ? '' : `${PUBLIC_URL}/api/v1/`}${url}`,
    signed,
  );
  const own = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'X-Twilio-Signature': signature,
    'X-Forwarded-For': `10.1.${++sent % 250}.1`,
  };
  return to.company.api('post', at, {
    auth: null,
    headers: { ...own, ...headers },
    body: new URLSearchParams(params).toString(),
  });
}
const text = (Body: string, more: Params = {}): Params => ({
  MessageSid: sid(),
  From: newNumber(),
  To: US,
  Body,
  ...more,
});
const messagesOf = (number: string) =>
  world.sql('SELECT * FROM text_messages WHERE from_number = $1 OR to_number = $1 ORDER BY id', [
    number.slice(1),
  ]);
const optedOut = async (number: string) =>
  (await world.sql('SELECT opt_out FROM contacts WHERE caller_number = $1', [number.slice(1)]))[0]
    ?.opt_out;
const logsOf = async (lead_id: number, event: string) =>
  (
    await world.sql<{ message: string }>(
      'SELECT message FROM lead_logs WHERE lead_id = $1 AND event = $2 ORDER BY id',
      [lead_id, event],
    )
  ).map(({ message }) => message);

async function newLead(): Promise<{ id: number; number: string }> {
  const number = newNumber();
  const res = await world.company.api('post', 'leads', {
    auth: null,
    query: { lead_token: shop.schedule.lead_token, caller_id: number },
  });
  return { id: res.body.id, number };
}

describe('what the carrier sends', () => {
  test('is taken with its signature, and answered with nothing to do, as text/xml', async () => {
    const res = await hook('telephony/sms', text('Hello'));
    expect([res.status, res.headers['content-type']]).toEqual([
      200,
      expect.stringMatching(/^text\/xml/),
    ]);
    expect(res.text).toBe('<?xml version="1.0" encoding="UTF-8"?><Response/>');
  });

  const query = 'key=019a9e6c-3f0e-7c52-9a51-5f2b60a3c001';
  const message = { MessageSid: 'SM1', From: '+13107770001', To: US, Body: 'Hello', Empty: '' };
  test.each<[string, Signed]>([
    ['by whom has another token', { token: 'another token' }],
    ['by whom has an empty token', { token: '' }],
    ['without a signature', { headers: { 'X-Twilio-Signature': '' } }],
    [
      'with no more than the beginning of one',
      {
        headers: {
          'X-Twilio-Signature': signatureOf(
            TWILIO_TOKEN,
            `${PUBLIC_URL}/api/v1/telephony/sms`,
            message,
          ).slice(0, 10),
        },
      },
    ],
    ['with another value', { params: { ...message, Body: 'hello' } }],
    ['with another sender', { params: { ...message, From: '+13107770002' } }],
    [
      'with a parameter more',
      { params: { MessageSid: 'SM1', From: '+13107770001', To: US, Body: 'Hello' } },
    ],
    ['with a parameter less', { params: { ...message, NumMedia: '0' } }],
    ['with its values under other names', { params: { ...message, Body: '', Empty: 'Hello' } }],
    ['for another path', { url: 'telephony/message_status' }],
    ['for a URL with a query', { url: `telephony/sms?${query}` }],
    ['for another host', { url: 'https://calls.example.org/api/v1/telephony/sms' }],
    ['without encryption', { url: 'http://calls.example.com/api/v1/telephony/sms' }],
  ])('is refused when it was signed %s', async (_name, signed) => {
    const res = await hook('telephony/sms', message, signed);
    expect([
      res.status,
      await messagesOf('+13107770001'),
      await messagesOf('+13107770002'),
    ]).toEqual([401, [], []]);
  });

  test('is refused with another query than the one that was signed', async () => {
    const report = { MessageSid: 'SM1', MessageStatus: 'delivered', From: US };
    const at = `telephony/message_status?${query}`;
    expect((await hook(at, report)).status).toBe(200);
    expect((await hook(at, report, { url: at.replace('c001', 'c002') })).status).toBe(401);
    expect((await hook(at, report, { url: 'telephony/message_status' })).status).toBe(401);
    expect((await hook('telephony/message_status', report)).body.errors).toEqual({
      key: [expect.any(String)],
    });
  });

  test('is known by the public URL, whatever a proxy makes of it, with or without its port', async () => {
    expect(
      (await hook('telephony/sms', text('a'), { headers: { Host: 'internal:3000' } })).status,
    ).toBe(200);
    expect(
      (
        await hook('telephony/sms', text('a'), {
          url: 'https://calls.example.com:443/api/v1/telephony/sms',
        })
      ).status,
    ).toBe(200);
  });

  test.each([
    'From[a]=b&To[]=c',
    'From[toString]=x&To[valueOf]=x',
    '__proto__[a]=b',
    'a=1&a=2',
    '',
  ])('is refused as %j', async (body) => {
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Twilio-Signature': 'x'.repeat(28),
      'X-Forwarded-For': `10.2.${++sent % 250}.1`,
    };
    expect(
      (await world.company.api('post', 'telephony/sms', { auth: null, headers, body })).status,
    ).toBe(401);
  });

  test('is refused whatever its signature where no token is configured', async () => {
    const bare = await createWorld({ environment: { PUBLIC_URL, TWILIO_AUTH_TOKEN: '' } });
    await ownNumber(bare, bare.company);
    const statuses = [];
    for (const token of [TWILIO_TOKEN, '', 'undefined'])
      statuses.push((await hook('telephony/sms', text('STOP'), { token, to: bare })).status);
    const kept = await bare.sql('SELECT FROM text_messages');
    await bare.close();
    expect([statuses, kept]).toEqual([[401, 401, 401], []]);
  });
});

describe('a text message from the carrier', () => {
  test('is kept with the lead of its sender, and means what it says', async () => {
    const { id, number } = await newLead();
    await hook('telephony/sms', text('Stop!', { From: number }));
    const [kept] = await messagesOf(number);
    expect(kept).toMatchObject({
      direction: 'inbound',
      status: 'received',
      body: 'Stop!',
      carrier: 'twilio',
      lead_id: String(id),
      schedule_id: String(shop.schedule.id),
    });
    expect([
      await optedOut(number),
      await logsOf(id, 'sms_received'),
      (await logsOf(id, 'opted_out')).length,
    ]).toEqual([true, ['Stop!'], 1]);
    await hook('telephony/sms', text('START', { From: number }));
    expect(await optedOut(number)).toBe(false);
  });

  test('that is delivered again is not taken again, whatever was said since', async () => {
    const { id, number } = await newLead();
    const stop = text('STOP', { From: number });
    await hook('telephony/sms', stop);
    await hook('telephony/sms', text('START', { From: number }));
    expect((await hook('telephony/sms', stop)).status).toBe(200);
    expect([
      (await messagesOf(number)).length,
      await optedOut(number),
      await logsOf(id, 'sms_received'),
    ]).toEqual([2, false, ['STOP', 'START']]);
  });

  test('that is delivered ten times at once is one', async () => {
    const { id, number } = await newLead();
    const stop = text('STOP', { From: number });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => hook('telephony/sms', stop)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect([
      (await messagesOf(number)).length,
      (await logsOf(id, 'sms_received')).length,
      (await logsOf(id, 'opted_out')).length,
    ]).toEqual([1, 1, 1]);
  });

  test('with nothing but a picture is kept, without words', async () => {
    const picture = text('', { NumMedia: '1' });
    delete picture.Body;
    expect((await hook('telephony/sms', picture)).status).toBe(200);
    expect(await messagesOf(picture.From!)).toMatchObject([{ body: '' }]);
  });

  test('is the company’s whose number it came to, and nobody’s otherwise', async () => {
    const other = await world.addCompany();
    await ownNumber(world, other, '12125550166');
    const message = text('STOP', { To: '+12125550166' });
    await hook('telephony/sms', message);
    expect(await messagesOf(message.From!)).toMatchObject([{ company_id: String(other.id) }]);
    expect(
      (await world.company.api('get', 'contacts', { query: { caller_id: message.From } })).body
        .contacts,
    ).toEqual([]);
    // The same id of a message may come to either.
    expect((await hook('telephony/sms', { ...message, To: US })).status).toBe(200);
    expect((await messagesOf(message.From!)).length).toBe(2);
    expect((await hook('telephony/sms', text('STOP', { To: '+12125559999' }))).status).toBe(404);
  });
});

interface Row {
  id: string;
  uuid: string;
}
async function sentMessage(
  status: string,
  lead_id: number | null = null,
  direction = 'outbound',
): Promise<Row> {
  const [row] = await world.sql<Row>(
    `INSERT INTO text_messages (company_id, uuid, direction, from_number, to_number, body, status, carrier, lead_id) VALUES ($1, gen_random_uuid(), $4, 12125550100, 13105550123, 'x', $2, 'twilio', $3) RETURNING id, uuid`,
    [world.company.id, status, lead_id, direction],
  );
  return row!;
}
async function placedCall(status: string, lead_id: number | null = null): Promise<Row> {
  const [row] = await world.sql<Row>(
    `INSERT INTO calls (company_id, uuid, direction, from_number, to_number, connect_to, status, carrier, lead_id) VALUES ($1, gen_random_uuid(), 'outbound', 12125550100, 13105550123, '+1', $2, 'twilio', $3) RETURNING id, uuid`,
    [world.company.id, status, lead_id],
  );
  return row!;
}
const messageStatus = ({ uuid }: { uuid: string }, MessageStatus: string, more: Params = {}) =>
  hook(`telephony/message_status?key=${uuid}`, {
    MessageSid: `SM-${uuid}`,
    MessageStatus,
    From: US,
    ...more,
  });
const callStatus = ({ uuid }: { uuid: string }, CallStatus: string, more: Params = {}) =>
  hook(`telephony/call_status?key=${uuid}`, {
    CallSid: `CA-${uuid}`,
    CallStatus,
    From: US,
    ...more,
  });
const rowOf = async (table: string, { id }: { id: string }) =>
  (await world.sql(`SELECT * FROM ${table} WHERE id = $1`, [id]))[0]!;

describe('the status of a text message', () => {
  test.each([
    ['sending', ['queued', 'sent', 'delivered'], 'delivered', ['delivered']],
    ['queued', ['delivered', 'sent', 'queued'], 'delivered', ['delivered']],
    ['queued', ['sent', 'sent', 'accepted'], 'sent', []],
    ['sent', ['delivered', 'delivered'], 'delivered', ['delivered']],
    ['sent', ['read'], 'delivered', ['delivered']],
    ['sent', ['undelivered', 'delivered'], 'undelivered', ['undelivered']],
    ['sending', ['failed', 'sent'], 'failed', ['failed']],
    ['queued', ['partially_delivered', 'toString'], 'queued', []],
  ])('goes on from %s by %j to %s, and never back', async (first, reports, last, logs) => {
    const { id } = await newLead();
    const message = await sentMessage(first, id);
    for (const status of reports) expect((await messageStatus(message, status)).status).toBe(200);
    expect([
      (await rowOf('text_messages', message)).status,
      await logsOf(id, 'sms_changed'),
    ]).toEqual([last, logs]);
  });

  test('keeps the carrier’s id, the times, and why', async () => {
    const [good, bad, odd] = [
      await sentMessage('sending'),
      await sentMessage('queued'),
      await sentMessage('sending'),
    ];
    await messageStatus(good, 'sent');
    time.set('2027-01-12T17:00:05Z');
    await messageStatus(good, 'delivered');
    const times = { sent_at: new Date(NOON), delivered_at: new Date('2027-01-12T17:00:05Z') };
    expect(await rowOf('text_messages', good)).toMatchObject({
      carrier_message_id: `SM-${good.uuid}`,
      error_code: null,
      error_message: null,
      ...times,
    });
    await messageStatus(bad, 'undelivered', { ErrorCode: '30003' });
    expect(await rowOf('text_messages', bad)).toMatchObject({
      error_code: 'unreachable',
      error_message: expect.stringContaining('out of reach'),
      delivered_at: null,
    });
    await messageStatus(odd, 'failed', { ErrorCode: '30410' });
    expect(await rowOf('text_messages', odd)).toMatchObject({
      error_code: 'twilio_30410',
      error_message: expect.stringContaining('30410'),
      sent_at: null,
    });
  });

  test('is of nobody else’s message, nor of one that came in', async () => {
    const other: Company = await world.addCompany();
    await ownNumber(world, other, '12125550167');
    const [mine, received] = [
      await sentMessage('queued'),
      await sentMessage('received', null, 'inbound'),
    ];
    expect((await messageStatus(mine, 'delivered', { From: '+12125550167' })).status).toBe(200);
    expect((await messageStatus(received, 'failed')).status).toBe(200);
    expect(
      (await messageStatus({ uuid: '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001' }, 'failed')).status,
    ).toBe(200);
    expect([
      await rowOf('text_messages', mine),
      await rowOf('text_messages', received),
    ]).toMatchObject([{ status: 'queued' }, { status: 'received' }]);
    expect((await messageStatus(mine, 'delivered', { From: '+12125559999' })).status).toBe(404);
  });
});

describe('the status of a call', () => {
  const lead = async (id: number) =>
    (await world.sql<Record<string, unknown>>('SELECT * FROM leads WHERE id = $1', [id]))[0]!;
  const calling = async (status: string) => {
    const { id } = await newLead();
    const call = await placedCall('queued', id);
    await world.sql('UPDATE leads SET status = $2, attempted_call_id = $3 WHERE id = $1', [
      id,
      status,
      call.id,
    ]);
    return { id, call };
  };

  test('that it is answered connects its lead, and that it is over lets the lead go on', async () => {
    const { id, call } = await calling('running');
    await callStatus(call, 'ringing');
    expect(await lead(id)).toMatchObject({ status: 'running', connected_call_id: null });
    await callStatus(call, 'in-progress');
    expect(await lead(id)).toMatchObject({ status: 'running', connected_call_id: call.id });
    time.set('2027-01-12T17:00:42Z');
    await callStatus(call, 'completed', { CallDuration: '42' });
    expect(await lead(id)).toMatchObject({ status: 'scheduled', is_live: true });
    const ended = {
      status: 'completed',
      total_duration: 42,
      answered_at: new Date(NOON),
      ended_at: new Date('2027-01-12T17:00:42Z'),
    };
    expect(await rowOf('calls', call)).toMatchObject({
      ...ended,
      carrier_call_id: `CA-${call.uuid}`,
    });
    expect(await logsOf(id, 'call_changed')).toEqual(['in_progress', 'completed after 42 s']);
  });

  test('that it was, told once it is over, is told with its duration', async () => {
    const { id, call } = await calling('completed_attempted');
    await callStatus(call, 'completed', { CallDuration: '30' });
    expect(await lead(id)).toMatchObject({
      status: 'completed_connected',
      connected_call_id: call.id,
    });
    expect(await rowOf('calls', call)).toMatchObject({
      answered_at: new Date('2027-01-12T16:59:30Z'),
      ended_at: new Date(NOON),
    });
  });

  test.each([
    ['running', 'busy', 'busy', 'scheduled'],
    ['running', 'no-answer', 'no_answer', 'scheduled'],
    ['completed_attempted', 'failed', 'failed', 'completed_attempted'],
    ['completed_attempted', 'canceled', 'canceled', 'completed_attempted'],
    ['opt_out', 'busy', 'busy', 'opt_out'],
    ['running', 'initiated', 'queued', 'running'],
    ['running', 'on-hold', 'queued', 'running'],
  ])(
    'of a lead that is %s: %s is %s, and leaves it %s without connection',
    async (before, reported, status, after) => {
      const { id, call } = await calling(before);
      await callStatus(call, reported, { CallDuration: '0' });
      const over = !['initiated', 'on-hold'].includes(reported);
      expect(await rowOf('calls', call)).toMatchObject({
        status,
        answered_at: null,
        total_duration: over ? 0 : null,
      });
      expect(await lead(id)).toMatchObject({ status: after, connected_call_id: null });
      expect(await logsOf(id, 'call_changed')).toEqual(over ? [`${status} after 0 s`] : []);
    },
  );

  test('never goes back, and twice is once', async () => {
    const { id, call } = await calling('running');
    for (const status of ['completed', 'completed', 'in-progress', 'ringing', 'busy'])
      await callStatus(call, status, { CallDuration: '7' });
    expect(await rowOf('calls', call)).toMatchObject({ status: 'completed', total_duration: 7 });
    expect(await logsOf(id, 'call_changed')).toEqual(['completed after 7 s']);
  });

  test('is of nobody else’s call', async () => {
    const other = await world.addCompany();
    await ownNumber(world, other, '12125550168');
    const { id, call } = await calling('running');
    expect((await callStatus(call, 'completed', { From: '+12125550168' })).status).toBe(200);
    expect(
      (await callStatus({ uuid: '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001' }, 'completed')).status,
    ).toBe(200);
    expect([(await rowOf('calls', call)).status, (await lead(id)).status]).toEqual([
      'queued',
      'running',
    ]);
    expect((await callStatus(call, 'completed', { CallDuration: '-1' })).status).toBe(422);
  });

  test.each([
    ['calls', callStatus, 'completed', placedCall],
    ['text_messages', messageStatus, 'delivered', sentMessage],
  ] as const)(
    'and of %s may come while the one who sends holds the lead: neither fails',
    async (table, report, status, make) => {
      const { id } = await newLead();
      const row = await make('sending', id);
      await world.sql('BEGIN');
      await world.sql('SELECT FROM leads WHERE id = $1 FOR NO KEY UPDATE', [id]);
      const reported = report(row, status);
      // Longer than it takes until who waits is looked at: from then on it would be the other one that fails.
      const stuck = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND clock_timestamp() > query_start + interval '1200 ms'`;
      while ((await world.deps.database.pool.query(stuck)).rowCount === 0) await setTimeout(50);
      await world.sql(`UPDATE ${table} SET status = 'queued' WHERE id = $1`, [row.id]);
      await world.sql('COMMIT');
      expect([(await reported).status, (await rowOf(table, row)).status]).toEqual([200, status]);
    },
  );
});
