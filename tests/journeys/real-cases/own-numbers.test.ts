import { useWorld } from '../../support/use-world';

// Numbers that a company has at its carrier already are entered by API, and not bought.

const world = useWorld({ clock: '2026-06-01T16:30:00Z' });
let superuser: string;
beforeAll(async () => {
  superuser = await world.credentials(world.company, [], { superuser: true });
});
const enter = (body: object, auth = superuser) =>
  world.api('post', 'phone_numbers', { auth, body });

test.each([
  ['(212) 555-0142', '+12125550142', 'US', false],
  ['+18005550143', '+18005550143', 'US', true],
  ['+49 30 901820', '+4930901820', 'DE', false],
])('%s is entered as %s, with its facts', async (number, phoneNumber, country, isTollFree) => {
  const offer = await world.create('offers', { name: 'Auto' });
  const res = await enter({ number, name: 'Ours', offer_id: offer });
  expect([res.status, res.body.number]).toMatchObject([
    201,
    { phone_number: phoneNumber, country, toll_free: isTollFree, name: 'Ours', offer_id: offer },
  ]);
  const shown = await world.api('get', `phone_numbers/${encodeURIComponent(phoneNumber)}`);
  expect(shown.body.number.id).toBe(res.body.number.id);
});

test('of twenty requests for a number at once one enters it', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => enter({ number: '+12125550150' })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const refused = answers.filter(({ status }) => status === 422);
  expect(refused.map(({ body }) => Object.keys(body.errors))).toEqual(Array(19).fill(['number']));
});

test('only superusers enter numbers; none is bought along with it', async () => {
  const auth = await world.credentials(world.company, ['phone_numbers:create']);
  const refusals = [
    await enter({ number: '+12125550160' }, auth),
    await enter({ number: '+12125550160', requested_number: '+12125550161' }),
    await enter({ number: '+12125550160', prefix: '212' }),
    await enter({ number: '12' }),
  ];
  expect(refusals.map(({ status, body }) => [status, Object.keys(body.errors)])).toEqual(
    Array(4).fill([422, ['number']]),
  );
});

const upload = (csv: string, auth = superuser) =>
  world.api('post', 'phone_numbers/import', {
    auth,
    form: { import_file: Buffer.from(csv) },
  });
const countNumbers = async (): Promise<number> =>
  (await world.ok('get', 'phone_numbers?per_page=1')).metadata.total_count;

test('a file of numbers: what can be entered is, and the rest is named by its line', async () => {
  const offer = await world.create('offers', { name: 'Auto' });
  const buyer = await world.create('buyers', { number: '+12125550999' });
  const before = await countNumbers();
  const csv = [
    'Phone Number;Friendly Name;offer_id;buyer_id;Region',
    `(212) 555-0170;'=Main;${offer};;NY`,
    `+12125550171;;;${buyer};`,
    '12;Short;;;',
    '+12125550170;Twice;;;',
    '+12125550172;Lost;999999;;',
    '+12125550173;;;;',
  ].join('\r\n');
  const res = await upload(csv);
  expect([res.status, res.body]).toMatchObject([
    200,
    {
      added: 3,
      ignored_columns: ['Region'],
      rejected: [
        { line: 4, number: '12', reason: expect.stringContaining('is not a possible') },
        { line: 5, number: '+12125550170', reason: 'number already belongs to a company' },
        { line: 6, number: '+12125550172', reason: expect.stringContaining('offer_id') },
      ],
    },
  ]);
  expect(await countNumbers()).toBe(before + 3);
  const shown = async (number: string) =>
    (await world.ok('get', `phone_numbers/${encodeURIComponent(number)}`)).number;
  expect(await shown('+12125550170')).toMatchObject({ name: '=Main', offer_id: offer });
  expect(await shown('+12125550171')).toMatchObject({ buyer_id: buyer, forward_type: 'buyer_id' });
});

test('one number entered is counted once; a list without a header is one of numbers', async () => {
  const before = await countNumbers();
  expect((await enter({ number: '+12125550180' })).status).toBe(201);
  expect(await countNumbers()).toBe(before + 1);
  const res = await upload('+12125550181\n+12125550182\n');
  expect([res.body.added, res.body.rejected, await countNumbers()]).toEqual([2, [], before + 3]);
  const body = { numbers: ['+12125550183', 'call me'] };
  const many = await world.api('post', 'phone_numbers/import', { auth: superuser, body });
  expect([many.body.added, many.body.rejected]).toMatchObject([
    1,
    [{ line: 2, number: 'call me' }],
  ]);
});

test('of ten equal files at once, each number is entered once', async () => {
  const before = await countNumbers();
  const csv = `number\n${Array.from({ length: 20 }, (_, n) => 12_125_551_100 + n).join('\n')}`;
  const answers = await Promise.all(Array.from({ length: 10 }, () => upload(csv)));
  const added = answers.map(({ body }) => body.added as number);
  expect([answers.map(({ status }) => status), added.reduce((sum, n) => sum + n)]).toEqual([
    Array(10).fill(200),
    20,
  ]);
  expect(await countNumbers()).toBe(before + 20);
});

test('files are for superusers, have a column of numbers, and at most 1,000 of them', async () => {
  const auth = await world.credentials(world.company, ['phone_numbers:create']);
  const many = Array.from({ length: 1_001 }, (_, n) => 12_125_560_000 + n).join('\n');
  const refusals = [
    await upload('number\n+12125550190', auth),
    await upload('a,b\n1,2'),
    await upload(`number\n${many}`),
    await upload(''),
  ];
  expect(refusals.map(({ status, body }) => [status, Object.keys(body.errors)])).toEqual(
    Array(4).fill([422, ['import_file']]),
  );
});
