import {
  cutText,
  isLonger,
  isStorable,
  parseForeignJson,
  toStorable,
} from '../../../src/platform/storable-text';
import { ANSWERS } from '../../support/bidders';
import { bidding, dialed, toReasons } from '../../support/bidding';

// The attacks: a bidder whose answer had U+0000, an unpaired surrogate, or an emoji across the
// place at which it was cut, made every report over its call a 422 for ever. A webhook with such a
// reason lost the call. The gate makes text of others storable before it comes any further.

const BAD = '\ufffd';
const CATEGORIES = ['buyer', 'offer', 'schedule', 'traffic_source', 'day', 'hour'];

const here = bidding();
const { ok, get, bidder, shop, call, decided, explain, buyer } = here;

const expectReadable = async (id: number) => {
  await get(`calls/${id}/decision`);
  for (const category of CATEGORIES) await get(`calls/reports?category=${category}`);
};

describe('a bidder that talks nonsense is passed over, with the reason', () => {
  test.each([
    ['U+0000 in the number', { bid: 5, number: 'a\0' }, `SIP address: a${BAD}`],
    ['half a pair in the bid', { bid: '\ud800' }, `10000: ${BAD}`],
    ['half a pair in an object', { bid: { '\udc00': '\0' } }, `10000: {"${BAD}":"${BAD}"}`],
    ['an emoji across the cut', { bid: `${'x'.repeat(99)}😀y` }, `10000: ${'x'.repeat(99)}😀`],
  ])('%s', async (_, answer, reason) => {
    const offer = await shop([await bidder('odd'), await buyer({ name: 'plain' })]);
    here.bidders.answer({ odd: ANSWERS.json(answer) });
    const session = await call(offer);
    expect(dialed(session)).toEqual(['plain']);
    const decision = await decided(session.id);
    expect(toReasons(decision)).toMatchObject({ odd: 'bid_failed' });
    const { message, details } = decision.candidates.find(({ name }: never) => name === 'odd');
    expect([message, details.fault]).toEqual([
      expect.stringContaining(reason),
      expect.stringMatching(new RegExp(`${reason.replace(/[{}]/g, '\\$&')}$`)),
    ]);
    await expectReadable(session.id);
    await explain(offer);
  });

  test('also one whose bid is looked for in its text', async () => {
    const odd = await bidder('text', { bid_response: { bid: '=~bid (.*)' } });
    const offer = await shop([odd]);
    here.bidders.answer({ text: ANSWERS.text(`bid \0${'x'.repeat(994)}😀`) });
    await expectReadable((await call(offer)).id);
  });
});

describe('a webhook that talks nonsense keeps its buyer from being dialed, with the reason', () => {
  test.each([
    ['half a pair', '\ud800', BAD],
    ['U+0000', 'no\0more', `no${BAD}more`],
    ['an emoji across the cut', `${'x'.repeat(199)}😀y`, `${'x'.repeat(199)}😀`],
  ])('%s', async (_, reason, shown) => {
    const offer = await shop([await buyer({ name: 'vetoed' })]);
    here.bidders.answer({ hook: ANSWERS.json({ accept: false, reason }) });
    await ok('outgoing_webhooks', {
      name: 'Ask',
      trigger_type: 'before_buyer_dialled',
      owner_type: 'Offer',
      owner_id: offer.offer,
      url: here.bidders.buildUrl('hook'),
    });
    const session = await call(offer);
    expect((await decided(session.id)).candidates).toMatchObject([
      { reason: 'vetoed', details: { veto: shown } },
    ]);
    expect((await get('webhook_logs')).webhook_logs).toMatchObject([{ notes: `vetoed: ${shown}` }]);
    await expectReadable(session.id);
  });
});

describe('the gate', () => {
  test('replaces what cannot be stored, and nothing else', () => {
    expect(['a\0', '\ud83d', '😀', BAD].map(toStorable)).toEqual([`a${BAD}`, BAD, '😀', BAD]);
  });

  test('cuts between code points', () => {
    expect([cutText('a😀b', 2), cutText('a😀b', 1), cutText('😀😀', 2), cutText('', 5)]).toEqual([
      'a😀',
      'a',
      '😀😀',
      '',
    ]);
  });

  test('counts code points: a name of 255 emoji has 255 characters', async () => {
    expect([isLonger('😀😀', 2), isLonger('😀😀a', 2)]).toEqual([false, true]);
    const name = '😀'.repeat(255);
    expect((await ok('traffic_sources', { name })).traffic_source.name).toBe(name);
    const values = [name];
    const { value_list } = await ok('value_lists', { name: 'Emoji', values });
    const listedValues = await get(`value_lists/${value_list.id}/values?root=false`);
    expect(listedValues).toEqual([name]);
    const more = await here.world.company.api('post', 'value_lists', {
      body: { name: 'More', values: [`${name}😀`] },
    });
    expect([more.status, more.body.error_codes]).toEqual([422, { 'values.0': ['invalid_value'] }]);
  });

  test('reads JSON with pairs, escaped backslashes and names as they are', () => {
    const json = String.raw`{"\u0000":["\ud83d\ude00","\ud83d","\\u0000","\\\ude00","\ud83d\u0041"]}`;
    expect(parseForeignJson(json)).toEqual({
      [BAD]: ['😀', BAD, String.raw`\u0000`, `\\${BAD}`, `${BAD}A`],
    });
    expect([parseForeignJson('{'), parseForeignJson('"\\'), parseForeignJson('null')]).toEqual([
      undefined,
      undefined,
      null,
    ]);
  });

  test('reads JSON that is nested as deep as it is long', () => {
    const json = `${'['.repeat(10_000)}"\\u0000"${']'.repeat(10_000)}`;
    let value = parseForeignJson(json);
    while (Array.isArray(value)) [value] = value as unknown[];
    expect([value, isStorable(String(value))]).toEqual([BAD, true]);
  });
});
