import { contract, facets, type Schema } from '../../../src/platform/contract/contract';
import { fresh } from '../../support/lead-records';
import type { Fields } from '../../support/records';
import { useSubmissions } from '../../support/submissions';

const { api, complete, createLead, post, shop, theirs } = useSubmissions();

const loadLog = async (id: number) =>
  (await api('get', 'lead_logs', { query: { lead_id: id } })).body.lead_logs[0];

/** Submits a lead that is only partly usable; returns the answer with the lead and its log. */
async function submitLenient(fields: Fields) {
  const { status, body } = await post(fields);
  expect([status, body.errors]).toEqual([201, {}]);
  const { lead } = (await api('get', `leads/${body.id}`)).body;
  return { ...body, lead, log: await loadLog(body.id) };
}

describe('a lead is taken although', () => {
  test.each<[string, Fields, string, Fields]>([
    ['its traffic source is unknown', { traffic_source_id: '987654' }, 'traffic_source_id', {}],
    ['its traffic source is a name', { traffic_source_id: 'Google' }, 'traffic_source_id', {}],
    ['its email is malformed', { email: 'ann@' }, 'email', { email: null }],
    ['its time zone is unknown', { time_zone: 'Mars' }, 'time_zone', {}],
    [
      'a number is out of range',
      { hours_to_expire: 0 },
      'hours_to_expire',
      { hours_to_expire: null },
    ],
    ['a number is none', { lead_priority: 'high' }, 'lead_priority', { lead_priority: null }],
    ['its sub_id is too long', { sub_id: 'x'.repeat(300) }, 'sub_id', { sub_id: null }],
    ['a time is none', { schedule_callback_at: 'soon' }, 'schedule_callback_at', {}],
    ['a value is not in the list', { apply_to: 'emails' }, 'apply_to', {}],
    ['a boolean is none', { update_only: 'maybe' }, 'update_only', {}],
    ['data is none', { data: 'x' }, 'data', {}],
  ])('%s', async (_, fields, name, columns) => {
    const { lead, warnings, warning_codes, log } = await submitLenient(fields);
    expect(lead).toMatchObject({ ...columns, data: { [name]: fields[name] } });
    expect([Object.keys(warnings), Object.keys(warning_codes)]).toEqual([[name], [name]]);
    expect(warnings[name][0]).toContain(`kept as the token ${name}`);
    expect([log.event, log.message]).toEqual(['created', expect.stringContaining(name)]);
    expect(log.details.warnings).toEqual([
      { field: name, code: warning_codes[name][0], message: warnings[name][0] },
    ]);
  });

  test('restart_schedule and next_action_at come with the token of an offer', async () => {
    const { lead, warnings } = await submitLenient({
      lead_token: shop.offer.lead_token,
      restart_schedule: 'yes',
      next_action_at: '2027-02-01',
    });
    expect([lead.offer_id, lead.schedule_id]).toEqual([shop.offer.id, null]);
    expect(Object.keys(warnings)).toEqual(['restart_schedule', 'next_action_at']);
  });

  test.each(['', ' '])('a boolean is blank: %j', async (blank) => {
    const booleans = ['restart_schedule', 'update_only', 'blocked', 'assign_sms_number'];
    const { lead } = await submitLenient(Object.fromEntries(booleans.map((name) => [name, blank])));
    expect([lead.blocked, lead.sms_number_id]).toEqual([false, null]);
  });

  test('the key of a token is in other letters, or too long', async () => {
    const { lead, warnings } = await submitLenient({
      имя: 'Anna',
      名前: 'Ann',
      ['Long '.repeat(40)]: 1,
    });
    const long = 'long_'.repeat(40).slice(0, 100);
    expect(lead.data).toEqual({ token_1: 'Anna', token_2: 'Ann', [long]: 1 });
    expect(Object.keys(warnings)).toEqual(['имя', '名前', 'Long '.repeat(20)]);
  });

  test('a token has the name that a value would be kept under', async () => {
    const { lead, warnings } = await submitLenient({
      email: 'ann@',
      data: { email_raw: 'x', data: 'y' },
    });
    expect(lead.data).toEqual({ email: 'ann@', email_raw: 'x', data: 'y' });
    const nested = await submitLenient({ data: { name: 'Ann' }, time_zone: 'Mars' });
    expect(nested.lead.data).toEqual({ name: 'Ann', time_zone: 'Mars' });
    const both = await submitLenient({
      auto_format_nested_fields: true,
      contact: { sub_id: 'a' },
      sub_id: [],
    });
    expect(both.lead.data).toEqual({ sub_id: 'a', sub_id_raw: [] });
    expect([Object.keys(warnings), Object.keys(both.warnings)]).toEqual([['email'], ['sub_id']]);
  });

  test('fields contradict each other: the safer one counts', async () => {
    const { lead, warnings } = await submitLenient({ blocked: true, unblock_contact: true });
    expect([lead.blocked, Object.keys(warnings)]).toEqual([
      true,
      expect.arrayContaining(['unblock_contact']),
    ]);
  });

  test('everything is wrong at once', async () => {
    const { lead, warnings } = await submitLenient({
      email: 1,
      sub_id: {},
      time_zone: [],
      lead_priority: 'x',
      traffic_source_id: 'none',
      hours_to_expire: -1,
    });
    const names = ['email', 'sub_id', 'time_zone', 'lead_priority', 'hours_to_expire'];
    expect(Object.keys(warnings).toSorted()).toEqual([...names, 'traffic_source_id'].toSorted());
    expect(Object.keys(lead.data).toSorted()).toEqual([...names, 'traffic_source_id'].toSorted());
  });

  test('a text has characters that cannot be stored', async () => {
    for (const text of ['x\0y', 'x\ud800y']) {
      const { lead, warnings } = await submitLenient({ sub_id: text, data: { a: text } });
      expect([lead.sub_id, lead.data]).toEqual(['x\ufffdy', { a: 'x\ufffdy' }]);
      expect(Object.keys(warnings).toSorted()).toEqual(['data', 'sub_id']);
    }
  });

  test('its sub_id is a number, or its email has blanks around it: nothing is wrong', async () => {
    const { warnings, lead } = await createLead({ sub_id: 12_345, email: ' ann@example.com ' });
    expect([warnings, lead.sub_id, lead.email]).toEqual([{}, '12345', 'ann@example.com']);
  });

  test('it was submitted before: the live lead keeps what it has', async () => {
    const { lead } = await createLead({ email: 'ann@example.com', sub_id: 'a' });
    const repeated = await post({ caller_id: lead.caller_id, email: 'ann@', sub_id: [] });
    expect([repeated.status, Object.keys(repeated.body.warnings)]).toEqual([
      200,
      ['email', 'sub_id'],
    ]);
    const now = (await api('get', `leads/${repeated.body.id}`)).body.lead;
    expect([now.email, now.sub_id]).toEqual(['ann@example.com', 'a']);
  });

  test('it comes by query string, form or multipart', async () => {
    const buildFields = () =>
      complete({ email: 'ann@', hours_to_expire: 'x' }) as Record<string, string>;
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const request of [
      { query: buildFields() },
      { body: new URLSearchParams(buildFields()).toString(), headers: form },
      { form: buildFields() },
    ]) {
      const { status, body } = await api('post', 'leads', { auth: null, ...request });
      expect([status, Object.keys(body.warnings)]).toEqual([201, ['email', 'hours_to_expire']]);
    }
  });

  test('it is captured with credentials', async () => {
    const body = { schedule_id: shop.schedule.id, caller_id: fresh(), email: 'ann@', sub_id: [] };
    const res = await api('post', 'leads/capture', { body });
    expect([res.status, res.body.lead.data]).toEqual([201, { email: 'ann@', sub_id: [] }]);
    expect(Object.keys(res.body.warnings)).toEqual(['email', 'sub_id']);
  });

  test("its traffic source is another company's", async () => {
    const otherSource = await theirs.api('post', 'traffic_sources', { body: { name: 'Theirs' } });
    const { uuid } = otherSource.body.traffic_source;
    const body = { schedule_id: shop.schedule.id, caller_id: fresh(), traffic_source_id: uuid };
    const res = await api('post', 'leads/capture', { body });
    expect([res.status, res.body.lead.traffic_source_id, res.body.lead.data]).toEqual([
      201,
      null,
      { traffic_source_id: uuid },
    ]);
    expect(res.body.warning_codes).toEqual({ traffic_source_id: ['unknown_reference'] });
  });
});

/** Values that a property of this schema cannot have. */
function badValues(schema: Schema): unknown[] {
  const { types, formats, max, accepts } = facets(schema);
  const values: unknown[] = [];
  if (!types.has('object') && !types.has('array')) values.push({ a: 1 }, [[1]]);
  if (types.has('string')) values.push(true);
  if (types.has('string') && !accepts.has('integer') && formats.size === 0) values.push(7);
  if (types.has('string')) values.push('x'.repeat((max.length ?? 255) + 1));
  if (types.has('integer') || types.has('number')) values.push('ten', 1e15, -1e15);
  if (types.has('integer')) values.push(1.5);
  if (types.has('boolean')) values.push('maybe', 7);
  if (formats.has('date-time') || formats.has('email')) values.push('soon');
  if (types.has('object')) values.push('x', 7, []);
  return values;
}

describe.each([
  ['submitLead', 'leads', (): Fields => ({ lead_token: shop.schedule.lead_token })],
  ['captureLead', 'leads/capture', (): Fields => ({ schedule_id: shop.schedule.id })],
])('%s is lenient', (id, path, owner) => {
  const operation = contract.operations.find((candidate) => candidate.id === id)!;
  const credentials = ['lead_token', 'offer_lead_token', 'schedule_lead_token', 'auth_token'];
  const cases = Object.entries(facets(operation.body!).properties)
    .filter(([name]) => !operation.lenient!.has(name) && !credentials.includes(name))
    .flatMap(([name, schema]) =>
      badValues(schema).map((value): [string, unknown] => [name, value]),
    );

  test('in all its properties but the number and what says where the lead goes', () => {
    expect([...operation.lenient!]).toEqual(
      id === 'submitLead' ? ['caller_id'] : ['caller_id', 'offer_id', 'schedule_id'],
    );
    expect(new Set(cases.map(([name]) => name)).size).toBeGreaterThan(25);
  });

  test.each(cases)('%s %j is a warning and a token', async (name, value) => {
    const body = { ...owner(), caller_id: fresh(), [name]: value };
    const res = await api('post', path, { body });
    expect([res.status, Object.keys(res.body.warnings ?? {})]).toEqual([201, [name]]);
    expect(res.body.warning_codes[name]).toEqual(
      res.body.warnings[name].map(() => expect.stringMatching(/^[a-z_]+$/)),
    );
    expect(res.body.lead.data).toEqual({ [name]: value });
  });
});

test('every operation that takes leads is lenient, and no other', () => {
  const lenient = contract.operations.flatMap(({ id, lenient }) => (lenient ? id : []));
  expect(lenient.filter((id) => !/Json$/.test(id)).toSorted()).toEqual([
    'captureLead',
    'submitLead',
  ]);
});

describe('a lead is refused', () => {
  test.each([
    ...['0000000000', '1111111111', '1234567890', '+10000000000', '9999999999', '5551234567'],
    ...['', 'anonymous', '+999123456789', '911'],
  ])('for the number %j, whatever else is wrong', async (callerId) => {
    const { status, body } = await post({
      caller_id: callerId,
      email: 'ann@',
      update_only: 'maybe',
    });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['caller_id']]);
    const captured = await api('post', 'leads/capture', {
      body: { schedule_id: shop.schedule.id, caller_id: callerId },
    });
    expect([captured.status, Object.keys(captured.body.errors)]).toEqual([422, ['caller_id']]);
  });

  test('for its credentials, although its fields are right', async () => {
    expect((await post({ lead_token: 'f'.repeat(32) })).status).toBe(401);
    const unblock = await post({ unblock_contact: true });
    expect([unblock.status, Object.keys(unblock.body.errors)]).toEqual([403, ['unblock_contact']]);
    const nowhere = await api('post', 'leads/capture', {
      body: { schedule_id: 987654, caller_id: fresh() },
    });
    expect([nowhere.status, Object.keys(nowhere.body.errors)]).toEqual([422, ['schedule_id']]);
  });

  test('as malformed JSON, and beyond the limits of a body', async () => {
    const headers = { 'Content-Type': 'application/json' };
    expect((await api('post', 'leads', { auth: null, body: '{"a":', headers })).status).toBe(400);
    expect((await post({ a: 'x'.repeat(70_000) })).status).toBe(413);
  });
});

test.each(['(555) 555-0123', '+13105550199', '310-555-0100', '+447700900123'])(
  'the number %j of fiction is taken',
  async (callerId) => expect((await post({ caller_id: callerId })).status).toBe(201),
);

describe('elsewhere', () => {
  test('an order to call a number that nobody can have is refused', async () => {
    const body = { to: '1111111111', schedule_id: shop.schedule.id };
    const { status, body: answer } = await api('post', 'calls', { body });
    expect([status, Object.keys(answer.errors)]).toEqual([422, ['to']]);
  });

  test('a call from such a number comes in, and the number can be blocked and opted out', async () => {
    const number = '+10000000000';
    const call = await api('post', 'call_sessions', {
      body: { offer_id: shop.offer.id, caller_number: number },
    });
    expect(call.status).toBe(201);
    const blocked = await api('post', 'contacts/caller_block', { body: { caller_ids: [number] } });
    expect([blocked.status, blocked.body.accepted ?? 1]).toEqual([200, 1]);
    const query = { lead_token: shop.schedule.lead_token };
    const opted = await api('put', `leads/${number}/caller_opt_out`, { auth: null, query });
    expect(opted.status).toBe(200);
  });
});
