import { type Company } from '../../support/world';
import type { Fields } from '../../support/records';
import { instant, useSubmissions } from '../../support/submissions';

const { api, complete, createLead, listWarnings, post, shop } = useSubmissions();

describe('a lead is the same', () => {
  const ann = { email: 'ann@example.com', sub_id: 's-1', first_name: 'Ann', zip: '90210' };
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const { email, sub_id, ...tokens } = ann;
  const text = (fields: Fields) => new URLSearchParams(fields as Record<string, string>).toString();

  const shapes: [string, (fields: Fields) => Parameters<Company['api']>[2]][] = [
    ['in the query string', (fields) => ({ query: { ...fields, ...ann } })],
    ['in flat JSON', (fields) => ({ body: { ...fields, ...ann } })],
    [
      'in JSON with its tokens in data',
      (fields) => ({ body: { ...fields, email, sub_id, data: tokens } }),
    ],
    [
      'in JSON with its number and address in data',
      ({ caller_id, ...fields }) => ({
        body: { ...fields, sub_id, data: { caller_id, email, ...tokens } },
      }),
    ],
    [
      'in JSON with data as text',
      (fields) => ({ body: { ...fields, email, sub_id, data: JSON.stringify(tokens) } }),
    ],
    ['in a urlencoded form', (fields) => ({ body: text({ ...fields, ...ann }), headers: form })],
    [
      'in a urlencoded form with data[key]',
      (fields) => ({
        body: text({ ...fields, email, sub_id, 'data[first_name]': 'Ann', 'data[zip]': '90210' }),
        headers: form,
      }),
    ],
    [
      'in a multipart form',
      (fields) => ({ form: { ...fields, ...ann } as Record<string, string> }),
    ],
    [
      'in a multipart form with data[key]',
      (fields) => ({
        form: {
          ...fields,
          email,
          sub_id,
          'data[first_name]': 'Ann',
          'data[zip]': '90210',
        } as Record<string, string>,
      }),
    ],
    [
      'in a multipart form with data as JSON',
      (fields) => ({
        form: { ...fields, email, sub_id, data: JSON.stringify(tokens) } as Record<string, string>,
      }),
    ],
    [
      'in query and JSON, where the body counts',
      (fields) => ({
        query: { ...fields, email: 'q@example.com', zip: '90210', first_name: 'Query' },
        body: { ...ann, zip: undefined },
      }),
    ],
    [
      'in query and form, where the body counts',
      ({ lead_token, ...fields }) => ({
        query: { lead_token, first_name: 'Query' },
        body: text({ ...fields, ...ann }),
        headers: form,
      }),
    ],
    [
      'by phone instead of caller_id',
      ({ caller_id, ...fields }) => ({
        body: { ...fields, ...ann, caller_id: undefined, phone: caller_id },
      }),
    ],
    [
      'under schedule_lead_token',
      ({ lead_token, ...fields }) => ({
        body: { ...fields, ...ann, schedule_lead_token: lead_token },
      }),
    ],
    [
      'with what forms add',
      (fields) => ({
        query: { format: 'json', utf8: '✓', commit: 'Send' },
        body: { ...fields, ...ann },
      }),
    ],
    [
      'whose data also holds credentials',
      (fields) => ({
        body: { ...fields, ...ann, auth_token: 'x', data: { lead_token: 'y', auth_token: 'z' } },
      }),
    ],
  ];
  test.each(shapes)('%s', async (_, shape) => {
    const fields = complete({});
    const res = await api('post', 'leads', { auth: null, ...shape(fields) });
    expect([res.status, res.body.errors]).toEqual([201, {}]);
    const { lead } = res.body;
    expect([lead.caller_id, lead.email, lead.sub_id, lead.schedule_id]).toEqual([
      `+1${String(fields.caller_id)}`,
      email,
      sub_id,
      shop.schedule.id,
    ]);
    const { phone, ...data } = lead.data;
    expect([data, phone ?? fields.caller_id]).toEqual([tokens, fields.caller_id]);
  });

  test('for one number in any spelling', async () => {
    const { id } = await createLead({ caller_id: '3105552001' });
    for (const callerId of [
      '+13105552001',
      '13105552001',
      13105552001,
      '(310) 555-2001',
      '310.555.2001',
      "'3105552001",
      ' 1 (310) 555 2001 ',
    ])
      expect((await post({ caller_id: callerId })).body.lead_id).toBe(id);
    const byQuery = await api(
      'post',
      `leads?lead_token=${shop.schedule.lead_token}&caller_id=+13105552001`,
      { auth: null },
    );
    expect([byQuery.status, byQuery.body.lead_id]).toEqual([200, id]);
  });
});

describe('spellings', () => {
  const assigned = async (fields: object) =>
    (await api('post', 'leads', { auth: null, ...fields })).body.sms_number_plain !== null;
  test.each([
    ...['1', 'true', 'yes', 'on', 'TRUE', 1, true].map((word) => [word, true]),
    ...['0', 'false', 'no', 'off', 'No', 0, false].map((word) => [word, false]),
  ])('the boolean %j is %j in JSON and in the query string', async (assignSmsNumber, expected) => {
    expect(await assigned({ body: complete({ assign_sms_number: assignSmsNumber }) })).toBe(
      expected,
    );
    expect(await assigned({ query: complete({ assign_sms_number: assignSmsNumber }) })).toBe(
      expected,
    );
  });

  test.each([
    ['2027-02-01 12:30:00 +0000', undefined, '2027-02-01T12:30:00Z'],
    ['2027-02-01 12:30:00 -0800', 'Eastern Time (US & Canada)', '2027-02-01T20:30:00Z'],
    ['2027-02-01 12:30:00', 'Eastern Time (US & Canada)', '2027-02-01T17:30:00Z'],
    ['2027-07-01 12:30:00', 'America/New_York', '2027-07-01T16:30:00Z'],
    ['2027-02-01 12:30:00', undefined, '2027-02-01T12:30:00Z'],
    ['2027-02-01 12:30:00 UTC', 'America/New_York', '2027-02-01T12:30:00Z'],
    ['2027-02-01T12:30:00Z', 'America/New_York', '2027-02-01T12:30:00Z'],
    ['2027-02-01', 'America/New_York', '2027-02-01T05:00:00Z'],
  ])('the time %j in the zone %j', async (nextActionAt, timeZone, expected) => {
    const fields = { next_action_at: nextActionAt, ...(timeZone && { time_zone: timeZone }) };
    expect(instant((await createLead(fields)).lead.next_action_at)).toBe(instant(expected));
    const zone = timeZone ? `&time_zone=${encodeURIComponent(timeZone)}` : '';
    const search = `next_action_at=${nextActionAt}${zone}`;
    const byQuery = await api('post', `leads?${search}`, { auth: null, query: complete({}) });
    expect(instant(byQuery.body.lead.next_action_at)).toBe(instant(expected));
  });

  test.each<[string, unknown]>([
    ...['soon', '2027-02-30', 1_800_000_000, {}].map((value): [string, unknown] => [
      'schedule_callback_at',
      value,
    ]),
    ...['1e3', '0x10', -1, 1.5, 31_536_001, 'ten'].map((value): [string, unknown] => [
      'schedule_callback_in_seconds',
      value,
    ]),
    ...[0, 'a day', 87_601].map((value): [string, unknown] => ['hours_to_expire', value]),
    ...[0, 1.5, 1_001, []].map((value): [string, unknown] => ['max_contact_attempts', value]),
    ...['high', 1_000_000_001].map((value): [string, unknown] => ['lead_priority', value]),
    ...['maybe', 2, {}, []].map((value): [string, unknown] => ['update_only', value]),
    ...['Mars', 7].map((value): [string, unknown] => ['time_zone', value]),
    ...['x', [], 7].map((value): [string, unknown] => ['data', value]),
    ['sub_id', 'x'.repeat(256)],
    ['serializer', 'buyer'],
  ])('%s %j is set aside', async (name, value) =>
    expect(await listWarnings({ [name]: value })).toEqual([name]),
  );

  test.each<[Fields, string]>([
    [
      { schedule_callback_at: '2027-02-01', schedule_callback_in_seconds: 5 },
      'schedule_callback_in_seconds',
    ],
    [{ expire_existing: true, update_only: true }, 'update_only'],
    [{ delete_existing: true, update_only: true }, 'update_only'],
    [{ unblock_contact: true, blocked: true }, 'unblock_contact'],
  ])('%j contradict each other', async (fields, name) =>
    expect((await listWarnings(fields))[0]).toBe(name),
  );
});

describe('the answer', () => {
  test('is 201 for a new lead, then 200 for the same one, with all that clients read', async () => {
    const fields = complete({ first_name: 'Ann' });
    for (const status of [201, 200]) {
      const { status: code, body, headers } = await post(fields);
      expect(Object.keys(body)).toEqual(
        expect.arrayContaining([
          'status',
          'errors',
          'lead',
          'id',
          'lead_id',
          'service_number_plain',
          'sms_number_plain',
          'warnings',
          'checksum',
        ]),
      );
      expect(body).toMatchObject({
        status,
        success: true,
        errors: {},
        service_number_plain: null,
        sms_number_plain: null,
        warnings: {},
        metadata: { root: 'lead' },
      });
      expect([code, body.id, body.lead_id, headers.etag]).toEqual([
        status,
        body.lead.id,
        body.lead.id,
        `"${body.checksum}"`,
      ]);
    }
  });

  test('of the serializer lead_external has nothing that its sender may not see', async () => {
    const { lead } = await createLead({
      serializer: 'lead_external',
      email: 'ann@example.com',
      first_name: 'Ann',
    });
    expect(Object.keys(lead).toSorted()).toEqual([
      'created_at',
      'human_status',
      'id',
      'offer_converted',
      'offer_id',
      'payout',
      'schedule_id',
      'status',
      'sub_id',
      'traffic_source_id',
      'type',
      'uuid',
    ]);
  });

  test('under an Idempotency-Key is given again, and nothing happens twice', async () => {
    const fields = complete({ assign_sms_number: true });
    const [first, second] = [
      await post(fields, { 'Idempotency-Key': 'k1' }),
      await post(fields, { 'Idempotency-Key': 'k1' }),
    ];
    expect([
      first.status,
      second.status,
      second.headers['idempotent-replayed'],
      second.text,
    ]).toEqual([201, 201, 'true', first.text]);
    expect(
      (await api('get', `lead_logs?lead_id=${first.body.id}`)).body.lead_logs.map(
        ({ event }: Fields) => event,
      ),
    ).toEqual(['created']);
    const otherResponse = await post(complete({}), { 'Idempotency-Key': 'k1' });
    expect([otherResponse.status, Object.keys(otherResponse.body.errors)]).toEqual([
      422,
      ['Idempotency-Key'],
    ]);
  });
});
