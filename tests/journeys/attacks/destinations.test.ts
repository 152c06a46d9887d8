import { ANSWERS } from '../../support/bidders';
import { bidding, dialed, toReasons } from '../../support/bidding';
import { REFUSED } from '../../support/refused-destinations';

// The company pays for its calls. A bidder that names where one goes stays within the countries,
// rates and SIP hosts that the company allows.

type Fields = Record<string, unknown>;
const here = bidding();
const { buyer, bidder, shop, call, decided, explain, ok, post, someone } = here;
const { bid } = ANSWERS;

describe('a bid', () => {
  const findCandidate = (decision: { candidates: Fields[] }, name: string) =>
    decision.candidates.find((candidate) => candidate.name === name);

  test.each(REFUSED)(
    'that leads to %s passes its buyer over, with the reason',
    async (number, why) => {
      const at = await shop([await bidder('fraud'), await buyer({ name: 'honest', tier: 5 })]);
      here.bidders.answer({ fraud: bid(90, { number }) });
      const session = await call(at, someone());
      expect(dialed(session)).toEqual(['honest']);
      expect(findCandidate(await decided(session.id), 'fraud')).toMatchObject({
        reason: 'bid_failed',
        message: expect.stringMatching(why),
        details: { code: 200 },
      });
      const storedBids = await here.world.sql('SELECT number FROM bids WHERE company_id = $1', [
        here.world.company.id,
      ]);
      expect(storedBids).toEqual([]);
    },
  );

  test('leads where the company allows it, and to the SIP host of its own buyer', async () => {
    await ok('company', { contact_countries: ['US', 'GB'], sip_hosts: ['PBX.example.org'] }, 'put');
    const buyerFields = { number: 'sip:desk@pbx.buyer.example.com' };
    const at = await shop([
      await bidder('abroad'),
      await bidder('listed'),
      await bidder('own', buyerFields),
    ]);
    const numbers: Record<string, string> = {
      abroad: '+442079460123',
      listed: 'sip:x@pbx.example.org',
      own: 'sip:night@pbx.buyer.example.com',
    };
    for (const [name, number] of Object.entries(numbers)) {
      here.bidders.answer({ [name]: bid(30, { number }) });
      expect((await call(at, someone())).instruction.dial).toMatchObject([{ name, number }]);
    }
  });

  test('that is kept leads nowhere once the company has forbidden it', async () => {
    await ok('company', { contact_countries: ['US', 'GB'] }, 'put');
    const at = await shop([await bidder('kept')]);
    here.bidders.answer({ kept: bid(30, { number: '+442079460123', expires_in: 600 }) });
    const caller = someone();
    expect(dialed(await call(at, caller))).toEqual(['kept']);
    expect((await explain(at, caller)).bids).toMatchObject([{ kept: true }]);
    await ok('company', { contact_countries: null }, 'put');
    expect((await explain(at, caller)).bids).toEqual([]);
    const secondSession = await call(at, caller);
    expect(secondSession.instruction.action).toBe('hang_up');
    expect(toReasons(await decided(secondSession.id))).toEqual({ kept: 'bid_failed' });
  });

  test('that leads to a premium number is offered to no seller', async () => {
    const at = await shop([await bidder('fraud')]);
    here.bidders.answer({ fraud: bid(90, { number: '+19005550123' }) });
    const answer = await post(at, { caller_id: someone() });
    expect([answer.success, answer.forwarding_number]).toEqual([false, null]);
  });
});

test('the company lists public hosts alone', async () => {
  const put = (sipHosts: string[]) =>
    here.world.company.api('put', 'company', { body: { sip_hosts: sipHosts } });
  const bad = ['127.0.0.1', '0x7f.1', '2130706433', 'localhost', '*.local', 'desk', '10.0.0.1'];
  const res = await put(['pbx.example.com', ...bad]);
  expect([res.status, Object.keys(res.body.errors)]).toEqual([
    422,
    bad.map((_, index) => `sip_hosts.${index + 1}`),
  ]);
  const updated = await put(['PBX.Example.com', 'pbx.example.com', '*.example.org', '8.8.4.4']);
  expect(updated.body.company.sip_hosts).toEqual(['pbx.example.com', '*.example.org', '8.8.4.4']);
});
