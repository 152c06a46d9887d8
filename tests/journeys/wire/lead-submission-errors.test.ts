import type { Fields } from '../../support/records';
import { useSubmissions } from '../../support/submissions';

const { api, complete, createLead, faults, listWarnings, post, shop, world } = useSubmissions();

describe('what cannot be a lead', () => {
  const raw = (json: string) =>
    api('post', 'leads', {
      auth: null,
      body: json,
      headers: { 'Content-Type': 'application/json' },
    });
  const inJson = ({ lead_token, caller_id }: Fields, more: string) =>
    raw(`{"lead_token":"${String(lead_token)}","caller_id":"${String(caller_id)}",${more}}`);
  const prototype = Object.getOwnPropertyNames(Object.prototype);
  afterEach(() =>
    expect([Object.getOwnPropertyNames(Object.prototype), ({} as Fields).polluted]).toEqual([
      prototype,
      undefined,
    ]),
  );

  test.each<unknown>([
    '',
    ' ',
    null,
    'anonymous',
    'Restricted',
    '+266696687',
    '+7378742833',
    '911',
    123,
    '+1310555012',
    31_055_501_234_567_890,
    true,
    {},
    { toString: 1 },
    [],
    ['3105550123'],
    'x'.repeat(200),
    '3'.repeat(200),
    'sip:ann@example.com',
    "3105550123' OR 1=1",
  ])('the caller_id %j is refused, at the top, in data and as phone', async (callerId) => {
    expect(await faults({ caller_id: callerId })).toEqual(['caller_id']);
    expect(await faults({ caller_id: undefined, data: { caller_id: callerId } })).toEqual([
      'caller_id',
    ]);
    expect(await faults({ caller_id: undefined, phone: callerId })).toEqual(['caller_id']);
    // Form software sends lists of one, which auto_format_nested_fields takes for what they list.
    if (Array.isArray(callerId) && callerId.length === 1) return;
    expect(
      await faults({
        caller_id: undefined,
        auto_format_nested_fields: true,
        contact: { mobile: callerId },
      }),
    ).toEqual(['caller_id']);
  });
  test('a missing caller_id is refused', async () =>
    expect(await faults({ caller_id: undefined })).toEqual(['caller_id']));
  test.each([
    'caller_id=3105550123&caller_id=3105550124',
    'caller_id[]=3105550123',
    'caller_id[a]=3105550123',
  ])('the query %s is refused', async (query) => {
    const res = await api('post', `leads?lead_token=${shop.schedule.lead_token}&${query}`, {
      auth: null,
    });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['caller_id']]);
  });

  test.each([
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['hasOwnProperty', 'has_own_property'],
    ['toString', 'to_string'],
    ['First Name', 'first_name'],
    ['x'.repeat(100), 'x'.repeat(100)],
  ])('the token name %j is a name like any other: %j', async (key, name) => {
    const value = { polluted: 'yes' };
    for (const more of [
      `${JSON.stringify(key)}:${JSON.stringify(value)}`,
      `"data":{${JSON.stringify(key)}:${JSON.stringify(value)}}`,
    ]) {
      const { status, body } = await inJson(complete({}), more);
      expect([status, Object.entries(body.lead.data)]).toEqual([201, [[name, value]]]);
    }
    const [inQuery, inForm] = [complete({}), complete({})].map((fields) =>
      new URLSearchParams({ ...fields, [`${key}[polluted]`]: 'yes' } as Record<
        string,
        string
      >).toString(),
    );
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const submission of [
      api('post', `leads?${inQuery}`, { auth: null }),
      api('post', 'leads', { auth: null, body: inForm, headers: form }),
    ])
      expect((await submission).status).toBe(201);
  });

  test.each([
    ['', 'data', 'token_1'],
    ['😀', '😀', 'token_1'],
    ['---', '---', 'token_1'],
    ['x'.repeat(101), 'x'.repeat(100), 'x'.repeat(100)],
  ])('the token name %j is replaced', async (key, field, name) => {
    for (const more of [`${JSON.stringify(key)}:1`, `"data":{${JSON.stringify(key)}:1}`]) {
      const { status, body } = await inJson(complete({}), more);
      expect([status, Object.keys(body.warnings)]).toEqual([201, [field]]);
      expect(body.lead.data).toEqual({ [name]: 1 });
    }
  });

  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
  test.each<[string, Fields, Fields]>([
    ['64 kB of data and not one byte more', { a: 'x'.repeat(65_528) }, { a: 'x'.repeat(65_529) }],
    ['64 kB of data, in bytes', { a: 'é'.repeat(32_764) }, { a: `${'é'.repeat(32_764)}x` }],
    ['200 tokens and not one more', keys(200), keys(201)],
    ['tokens five levels deep and no deeper', { k: nested(5) }, { k: nested(6) }],
  ])('%s are taken, at the top and in data', async (_, enough, tooMuch) => {
    // With no credentials but the lead token, 64 kB is the limit of the whole body.
    const { auth } = world.company;
    for (const shape of [(tokens: Fields) => tokens, (data: Fields) => ({ data })]) {
      expect((await createLead(shape(enough), auth)).lead.data).toEqual(enough);
      expect(await listWarnings(shape(tooMuch), auth)).toEqual([
        expect.stringMatching(/^(a|k|k200)$/),
      ]);
    }
  });
  test('what is nested without end is refused', async () => {
    const deep = `"a":${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect((await inJson(complete({}), deep)).status).toBe(422);
  });

  test.each<[string, Fields, Record<string, string>]>([
    ['plainly', {}, {}],
    ['under Idempotency-Keys', {}, { 'Idempotency-Key': 'grow-' }],
    ['with all that match it', { update_all_matching_leads: true }, {}],
    ['with update_only', { update_only: true }, {}],
  ])(
    'a lead that is submitted again and again %s grows to 128 kB and stays as it is',
    async (_, fields, headers) => {
      const { lead, id } = await createLead({ n0: 'x'.repeat(60_000) });
      const grow = (n: number) =>
        post(
          { caller_id: lead.caller_id, [`n${n}`]: 'x'.repeat(60_000), ...fields },
          headers['Idempotency-Key'] ? { 'Idempotency-Key': `grow-${n}` } : {},
        );
      expect((await grow(1)).status).toBe(200);
      const refused = await grow(2);
      expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['data']]);
      expect(Object.keys((await api('get', `leads/${id}`)).body.lead.data)).toEqual(['n0', 'n1']);
      expect(
        (await post({ caller_id: lead.caller_id, n0: null, n2: 'y', ...fields })).body.lead.data,
      ).toMatchObject({ n2: 'y' });
    },
  );

  test.each<unknown>([
    'a@b.example\r\nBcc: c@d.example',
    'a@b.example\nc@d.example',
    'a@b.example,c@d.example',
    'a@b.example c@d.example',
    'Ann <a@b.example>',
    '"a"@b.example',
    'a@b',
    'ann',
    7,
    ['a@b.example'],
    `${'a'.repeat(60)}@${`${'b'.repeat(60)}.`.repeat(4)}example`,
  ])('the email %j is set aside, at the top and in data', async (email) => {
    expect(await listWarnings({ email })).toEqual(['email']);
    expect(await listWarnings({ data: { email } })).toEqual(['email']);
  });

  test.each(['x\0y', '\0', 'half a pair \ud800'])(
    'the text %j, which PostgreSQL cannot hold, is replaced wherever it stands',
    async (text) => {
      for (const fields of [
        { a: text },
        { data: { a: text } },
        { data: { [text]: 1 } },
        { sub_id: text },
        { email: text },
        { ip_address: text },
        { traffic_source_id: text },
        { a: [{ b: text }] },
      ])
        expect((await listWarnings(fields)).length).toBeGreaterThan(0);
      expect(await faults({ caller_id: text })).toEqual(['caller_id']);
      const form = await api('post', 'leads', {
        auth: null,
        form: complete({ data: JSON.stringify({ a: text }) }) as Record<string, string>,
      });
      expect([form.status, Object.keys(form.body.warnings)]).toEqual([201, ['data']]);
    },
  );

  test.each<Fields>([
    { zip: { toString: 1 } },
    { zip: [] },
    { postal_code: { a: 1 } },
    { name: { first: null, all: [null] } },
    { phone: { toString: 1 } },
    { a: 1e300 },
  ])('the data %j are kept as they are', async (data) => {
    expect((await createLead({ data })).lead.data).toEqual(data);
  });

  test.each(['[]', '"x"', '5', 'null'])(
    'the body %s is refused, whatever is in the query string',
    async (body) => {
      const res = await api('post', 'leads', {
        auth: null,
        query: complete({}),
        body,
        headers: { 'Content-Type': 'application/json' },
      });
      expect(res.status).toBe(422);
    },
  );
  test('a body of a megabyte is 413', async () => {
    expect((await post({ a: 'x'.repeat(1_048_576) })).status).toBe(413);
    expect(
      (
        await api('post', 'leads', {
          auth: null,
          form: complete({ a: 'x'.repeat(1_048_576) }) as Record<string, string>,
        })
      ).status,
    ).toBe(413);
  });
});
