import { fresh } from '../../support/lead-records';
import type { Fields } from '../../support/records';
import { useSubmissions } from '../../support/submissions';

// Leads as the documentation of form software shows them, with auto_format_nested_fields.

const { api, shop } = useSubmissions();
const PERSON = { first_name: 'Ann', email: 'ann@example.com' };

async function submit(body: Fields | string, type = 'application/json') {
  const query = { lead_token: shop.schedule.lead_token, auto_format_nested_fields: true };
  const headers = { 'Content-Type': type };
  const { status, body: answer } = await api('post', 'leads', { auth: null, query, body, headers });
  expect([status, answer.errors]).toEqual([201, {}]);
  const { caller_id, email, data } = (await api('get', `leads/${answer.id}`)).body.lead;
  return { caller_id, email, ...data };
}
const FORM = 'application/x-www-form-urlencoded';
const encode = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

const elementor = (id: string, type: string, title: string, value: string) => ({
  [`fields[${id}][id]`]: id,
  [`fields[${id}][type]`]: type,
  [`fields[${id}][title]`]: title,
  [`fields[${id}][value]`]: value,
  [`fields[${id}][raw_value]`]: value,
  [`fields[${id}][required]`]: '1',
});

test.each([
  ['named ids', ['first_name', 'phone', 'email']],
  ['ids of its own', ['field_4a1b2c3', 'field_5d6e7f8', 'field_9a8b7c6']],
])('Elementor, with %s', async (_, [first, phone, email]) => {
  const number = fresh();
  const fields = {
    'form[id]': '6b2f1c3',
    'form[name]': 'New Form',
    ...elementor(first!, 'text', 'First name', 'Ann'),
    ...elementor(phone!, 'tel', 'How do we reach you?', number),
    ...elementor(email!, 'email', 'Mail us from', PERSON.email),
    'meta[date][title]': 'Date',
    'meta[date][value]': 'June 1, 2026',
    'meta[remote_ip][title]': 'Remote IP',
    'meta[remote_ip][value]': '192.0.2.1',
  };
  expect(await submit(encode(fields), FORM)).toMatchObject({
    ...PERSON,
    caller_id: `+1${number}`,
    form_name: 'New Form',
    meta_date: 'June 1, 2026',
  });
});

test('Google lead forms', async () => {
  const number = fresh();
  const column = (id: string, name: string, value: string) => ({
    column_name: name,
    string_value: value,
    column_id: id,
  });
  const lead = await submit({
    lead_id:
      'TeSter-123-ABCDEFGHIJKLMNOPQRSTUVWXYZ-abcdefghijklmnopqrstuvwxyz-0123456789-AaBbCcDdEeFf',
    user_column_data: [
      column('FIRST_NAME', 'First Name', 'Ann'),
      column('EMAIL', 'User Email', PERSON.email),
      column('PHONE_NUMBER', 'User Phone', number),
      column('POSTAL_CODE', 'Postal Code', '90012'),
    ],
    api_version: '1.0',
    form_id: 40000000000,
    campaign_id: 123_456,
    google_key: 'secret',
    is_test: true,
    gcl_id: 'EAIaIQobChMI',
    adgroup_id: 20000000000,
    creative_id: 30000000000,
  });
  expect(lead).toMatchObject({ ...PERSON, caller_id: `+1${number}`, zip: '90012' });
  expect(lead.gcl_id).toBe('EAIaIQobChMI');
});

test('Meta lead ads', async () => {
  const number = fresh();
  const lead = await submit({
    created_time: '2026-06-01T08:49:14+0000',
    id: '2838984566231',
    ad_id: '23842571233450123',
    form_id: '282347298347',
    field_data: [
      { name: 'first_name', values: ['Ann'] },
      { name: 'phone_number', values: [`+1${number}`] },
      { name: 'email', values: [PERSON.email] },
      { name: 'zip_code', values: ['90012'] },
    ],
  });
  expect(lead).toMatchObject({ ...PERSON, caller_id: `+1${number}`, zip: '90012' });
});

test('Typeform', async () => {
  const number = fresh();
  const lead = await submit({
    event_id: 'LtWXD3crgy',
    event_type: 'form_response',
    form_response: {
      form_id: 'lT4Z3j',
      token: 'a3a12ec67a1365927098a606107fac15',
      submitted_at: '2026-06-01T18:17:02Z',
      hidden: { utm_source: 'google' },
      definition: {
        id: 'lT4Z3j',
        title: 'Quote',
        fields: [
          { id: 'DlXFaesGBpoF', title: 'First name', type: 'short_text' },
          { id: 'SMEUb7VJz92Q', title: 'Who are you?', type: 'email' },
          { id: 'JwWggjAKtOkA', title: 'May we call?', type: 'phone_number' },
          { id: 'RUqkXSeXBXSd', title: 'State', type: 'multiple_choice' },
        ],
      },
      answers: [
        { type: 'text', text: 'Ann', field: { id: 'DlXFaesGBpoF', type: 'short_text' } },
        {
          type: 'email',
          email: PERSON.email,
          field: { id: 'SMEUb7VJz92Q', type: 'email', ref: '01f0c8b6-7a5b-4b1e-8f39-2f0f2b0c3d4e' },
        },
        {
          type: 'phone_number',
          phone_number: `+1${number}`,
          field: { id: 'JwWggjAKtOkA', type: 'phone_number' },
        },
        { type: 'choice', choice: { label: 'CA' }, field: { id: 'RUqkXSeXBXSd', ref: 'state' } },
        { type: 'boolean', boolean: true, field: { id: 'gFFf3xAkJKsr', ref: 'owns_home' } },
      ],
    },
  });
  expect(lead).toMatchObject({
    ...PERSON,
    caller_id: `+1${number}`,
    state: 'CA',
    owns_home: true,
    utm_source: 'google',
  });
});

test('Unbounce, as a form and as JSON', async () => {
  for (const isForm of [true, false]) {
    const number = fresh();
    const answers = {
      first_name: ['Ann'],
      email: [PERSON.email],
      phone_number: [number],
      ip_address: ['192.0.2.1'],
    };
    const page = { page_id: 'a2838b98', page_name: 'Quote', variant: 'b' };
    const lead = isForm
      ? await submit(encode({ ...page, 'data.json': JSON.stringify(answers) }), FORM)
      : await submit(answers);
    expect(lead).toMatchObject({ ...PERSON, caller_id: `+1${number}` });
  }
});

test.each([
  ['entries', ''],
  ['inputs', 'input_'],
])('Gravity Forms, as %s', async (_, start) => {
  const number = fresh();
  const formatted = `(${number.slice(0, 3)}) ${number.slice(3, 6)}-${number.slice(6)}`;
  const lead = await submit({
    id: '61',
    form_id: '4',
    date_created: '2026-06-01 18:17:02',
    ip: '192.0.2.1',
    [`${start}1.3`]: 'Ann',
    [`${start}1.6`]: 'Lee',
    [`${start}2`]: PERSON.email,
    [`${start}3`]: formatted,
    [`${start}4.1`]: '1 Main St',
    [`${start}4.3`]: 'Los Angeles',
    [`${start}4.4`]: 'California',
    [`${start}4.5`]: '90012',
  });
  expect(lead).toMatchObject({
    ...PERSON,
    caller_id: `+1${number}`,
    last_name: 'Lee',
    city: 'Los Angeles',
    zip: '90012',
  });
});

test('fields that only look like those of form software stay as they are', async () => {
  const number = fresh();
  expect(
    await submit({ caller_id: number, fields: { a: { value: 1 } }, picks: ['x'], 5: 'y' }),
  ).toMatchObject({
    picks: ['x'],
    5: 'y',
    value: 1,
  });
});
