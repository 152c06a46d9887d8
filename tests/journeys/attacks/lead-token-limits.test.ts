import {
  contract,
  facets,
  type LeadTokenPower,
  type Operation,
} from '../../../src/platform/contract/contract';
import {
  NOON,
  openShop,
  runEngine,
  loadSent,
  loadStory,
  submit,
  type Shop,
} from '../../support/leads';
import { repetitions } from '../../support/repetitions';
import { createWorld, type Api, type Method, type World } from '../../support/world';

// Limits of a lead token by the company, an offer and the service: the operations it opens, how
// often, and where it may send the company's calls.

type Fields = Record<string, unknown>;

let world: World;
const api: Api = (...request) => world.company.api(...request);
afterEach(() => world.close());

const operations = contract.operations.filter(({ credentials }) => credentials === 'lead_token');
const { properties } = facets(contract.document.components.schemas.LeadFields!);
const POWERS = contract.document.components.schemas.LeadTokenPower!.enum as LeadTokenPower[];

/** A value of a field that asks for something. */
const VALUES: Fields = {
  apply_to: 'calls',
  schedule_callback_at: '2030-01-01T00:00:00Z',
  next_action_at: '2030-01-01T00:00:00Z',
  schedule_callback_in_seconds: 0,
};

function ask({ method, path }: Operation, leadToken: string, more: Fields = {}) {
  const url = path
    .replace('{lead_token}', leadToken)
    .replace(/\{(caller_id|caller_number)\}/, '3105550123');
  const inPath = path.includes('{lead_token}');
  const query = inPath ? {} : { lead_token: leadToken, ...(path === '/api/v1/leads' && CALLER) };
  return api(method as Method, url, { auth: null, query, ...more });
}
const CALLER = { caller_id: '3105550123' };

describe('powers', () => {
  let shop: Shop;
  const without = (power: LeadTokenPower) => POWERS.filter((candidate) => candidate !== power);
  const narrow = (path: string, leadTokenPowers: readonly string[] | null) =>
    api('put', path, { body: { lead_token_powers: leadTokenPowers } });
  beforeEach(async () => {
    world = await createWorld();
    shop = await openShop(world, []);
    await submit(world, shop.schedule.lead_token);
  });

  test('all there are open some operation or field', () => {
    const opened = [
      ...operations.map(({ power }) => power),
      ...Object.values(properties).map((field) => field['x-lead-token-permission']),
    ];
    expect(new Set(opened.filter(Boolean))).toEqual(new Set(POWERS));
  });

  test('a power that the company takes away is refused, all others stay', async () => {
    for (const power of POWERS) {
      await narrow('company', without(power));
      const refused = operations.filter((operation) => operation.power === power);
      for (const operation of refused) {
        const res = await ask(operation, shop.schedule.lead_token);
        expect([operation.id, res.status, res.body.code]).toEqual([
          operation.id,
          403,
          'not_permitted',
        ]);
        expect(res.body.detail).toContain(`needs the power ${power}`);
      }
      const show = operations.find((operation) => operation.power === 'read')!;
      const shown = await ask(show, shop.schedule.lead_token);
      expect([power, shown.status]).toEqual([power, power === 'read' ? 403 : 200]);
    }
  });

  test('so is a field of a submission, which then does nothing', async () => {
    const fields = Object.entries(properties).filter(
      ([, field]) => field['x-lead-token-permission'],
    );
    expect(fields.length).toBeGreaterThan(10);
    for (const [name, { 'x-lead-token-permission': power }] of fields) {
      await narrow('company', without(power!));
      const value = VALUES[name] ?? true;
      const res = await submit(world, shop.schedule.lead_token, { [name]: value });
      expect([name, res.status, Object.keys(res.body.errors)]).toEqual([name, 403, [name]]);
      const plain = await submit(world, shop.schedule.lead_token, {
        [name]: value === true ? false : '',
      });
      expect([name, plain.status]).toEqual([name, 200]);
    }
  });

  test('an offer narrows its own token and those of its schedules, and widens nothing', async () => {
    const otherShop = await openShop(world, []);
    await narrow(`offers/${shop.offer.id}`, ['read']);
    const submitStatus = async ({ lead_token }: { lead_token: string }) =>
      (await submit(world, lead_token)).status;
    expect(await submitStatus(shop.offer)).toBe(403);
    expect(await submitStatus(shop.schedule)).toBe(403);
    expect(await submitStatus(otherShop.schedule)).toBe(201);
    await narrow('company', ['read']);
    await narrow(`offers/${shop.offer.id}`, ['submit']);
    expect(await submitStatus(shop.schedule)).toBe(403);
    await narrow('company', null);
    await narrow(`offers/${shop.offer.id}`, null);
    expect(await submitStatus(shop.schedule)).toBe(200);
  });

  test('credentials beside the token need no power, but the permission for it', async () => {
    await narrow('company', []);
    for (const [permission, status] of [
      ['leads:create', 200],
      ['leads:read', 403],
    ] as const) {
      const auth = await world.credentials(world.company, [permission]);
      const query = { lead_token: shop.schedule.lead_token, ...CALLER };
      expect((await api('post', 'leads', { auth, query })).status).toBe(status);
    }
  });
});

describe('floods', () => {
  const LIMIT = repetitions(100, 200);
  let shop: Shop;
  beforeEach(async () => {
    world = await createWorld({
      environment: { LEAD_RATE_LIMIT_PER_MINUTE: String(LIMIT), TRUST_PROXY: '1' },
      rate_window_seconds: 100_000_000,
    });
    shop = await openShop(world, []);
    await submit(world, shop.schedule.lead_token);
  });
  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
  const lead = (n: number, address: string) =>
    api('post', 'leads', {
      auth: null,
      query: { lead_token: shop.schedule.lead_token, caller_id: `+1310555${1000 + n}` },
      ...from(address),
    });
  const count = (statuses: readonly number[]) => statuses.filter((status) => status < 300).length;

  test('requests that submit nothing never use up what submissions need', async () => {
    const otherOperations = operations.filter(({ power }) => power !== 'submit');
    const passed: number[] = [];
    for (let n = 0; n < LIMIT + 50; n++) {
      const operation = otherOperations[n % otherOperations.length]!;
      const address = from(`203.0.113.${n % 100}`);
      passed.push((await ask(operation, shop.schedule.lead_token, address)).status);
    }
    expect(passed.filter((status) => status === 429).length).toBeGreaterThanOrEqual(LIMIT);
    expect((await lead(0, '198.51.100.7')).status).toBe(201);
  });

  test('one address leaves three quarters of the submissions to others', async () => {
    const flood = [];
    for (let n = 0; n < LIMIT; n++) flood.push((await lead(n, '203.0.113.1')).status);
    expect(count(flood)).toBe(LIMIT / 4);
    const honest = [];
    for (let n = 0; n < LIMIT / 2; n++)
      honest.push((await lead(500 + n, `198.51.100.${n}`)).status);
    expect(count(honest)).toBe(LIMIT / 2);
  });

  test('what an IPv6 line has of addresses and networks (/56) counts as one address', async () => {
    const flood = [];
    for (let n = 0; n < LIMIT; n++) {
      const network = (0x200 + (n % 256)).toString(16);
      flood.push((await lead(n, `2001:db8:1:${network}::${n.toString(16)}`)).status);
    }
    expect(count(flood)).toBe(LIMIT / 4);
    expect((await lead(900, '2001:db8:1:300::1')).status).toBe(201);
    expect((await lead(901, '198.51.100.7')).status).toBe(201);
  });

  test('a number is submitted 60 times at most, from however many addresses', async () => {
    const flood = [];
    for (let n = 0; n < 70; n++) flood.push((await lead(0, `203.0.113.${n}`)).status);
    expect(count(flood)).toBe(60);
    // However it is spelled, and wherever it stands.
    const body = {
      lead_token: shop.schedule.lead_token,
      auto_format_nested_fields: true,
      form: { contact: { phoneNumber: '1 (310) 555-1000' } },
    };
    const more = { auth: null, ...from('198.51.100.8') };
    expect((await api('post', 'leads', { body, ...more })).status).toBe(429);
    expect((await lead(1, '203.0.113.1')).status).toBe(201);
  });

  test('credentials beside the token are not held up by its floods', async () => {
    for (let n = 0; n < LIMIT + 20; n++) await lead(n, `203.0.113.${n % 30}`);
    expect((await lead(999, '198.51.100.9')).status).toBe(429);
    const query = { lead_token: shop.schedule.lead_token, caller_id: '+13105559999' };
    expect((await api('post', 'leads', { query })).status).toBe(201);
  });
});

describe('where to', () => {
  const SMS_AND_CALL = [
    { action_type: 'sms', body: 'Hello' },
    { action_type: 'dial', connect_to: '+13105550199' },
  ];
  const COSTLY = [
    '+19005550123',
    '+13109761234',
    '+979123456789',
    '+88213123456',
    '+88351001234567',
    '+870773123456',
    '+881612345678',
  ];
  const ABROAD = ['+442079460123', '+18095550123', '+18765550123', '+449098790000'];
  let shop: Shop;
  beforeEach(async () => {
    world = await createWorld({ clock: () => new Date(NOON) });
    shop = await openShop(world, SMS_AND_CALL, { daylight_hours: '00:00..23:59' });
  });
  const listContacted = async (numbers: readonly string[]) => {
    const ids = [];
    for (const callerId of numbers)
      ids.push((await submit(world, shop.schedule.lead_token, { caller_id: callerId })).body.id);
    await runEngine(world);
    const texts = await Promise.all(ids.map((id) => loadSent(world, 'text_messages', id)));
    const calls = await Promise.all(ids.map((id) => loadSent(world, 'calls', id)));
    return numbers.filter((_, n) => texts[n]!.length + calls[n]!.length > 0);
  };

  test('nobody abroad, at a premium rate or behind a satellite is called or texted', async () => {
    expect(await listContacted([...COSTLY, ...ABROAD, '+13105550123'])).toEqual(['+13105550123']);
  });

  test('the lead is taken, and says why: to its sender, in its history and its timeline', async () => {
    const res = await submit(world, shop.schedule.lead_token, { caller_id: '+442079460123' });
    expect([res.status, res.body.warnings.caller_id]).toEqual([
      201,
      [
        'is in the country GB, where the company contacts nobody: ' +
          'the lead is stored, but neither called nor texted',
      ],
    ]);
    const { timeline } = (await api('get', `leads/${res.body.id}/timeline`)).body;
    expect(timeline.future[0]).toMatchObject({ action: 'sms', blocked_by: 'number_not_allowed' });
    await runEngine(world);
    expect(await loadStory(world, res.body.id)).toEqual([
      'created',
      'skipped: number_not_allowed',
      'skipped: number_not_allowed',
      'left_schedule: completed',
      'ended: failure',
    ]);
  });

  test('countries are those of the company; costly numbers need a prefix of their own', async () => {
    const everywhere = ['US', 'GB', 'DO', 'JM'];
    await api('put', 'company', { body: { contact_countries: everywhere } });
    expect(await listContacted([...COSTLY, ...ABROAD])).toEqual(ABROAD.slice(0, 3));
    await api('put', 'company', { body: { contact_prefixes: ['979', '1900', '44909'] } });
    const more = ['+19005550124', '+979123456780', '+449098790001', '+88213123457'];
    expect(await listContacted(more)).toEqual(more.slice(0, 3));
  });

  test('a callback that the lead asks for is not made, nor a call by hand', async () => {
    const { id } = (
      await submit(world, shop.offer.lead_token, {
        caller_id: '+19005550123',
        schedule_callback_in_seconds: 0,
      })
    ).body;
    await runEngine(world);
    expect(await loadSent(world, 'calls', id)).toEqual([]);
    const body = { lead_id: id, schedule_id: shop.schedule.id };
    const res = await api('post', 'calls', { body });
    expect([res.status, res.body.code, res.body.errors.lead_id[0]]).toEqual([
      422,
      'contact_refused',
      'must not be called: the number is of a satellite, or at a premium rate',
    ]);
  });
});
