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
