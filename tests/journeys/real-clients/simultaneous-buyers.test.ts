import { setTimeout } from 'node:timers/promises';
import { startJobs } from '../../../src/main/background/start';
import { stopLegs } from '../../../src/domain/calls/stop-legs';
import { switchboard, type Bought } from '../../support/switchboard';
import { useTwilio } from '../../support/use-twilio';
import { TWILIO_TOKEN } from '../../support/world';
import type { Element } from '../../support/xml';

// Buyers that ring at once each ring for their own time, and are recorded by their own setting.

/** Monday 08:30 in New York. */
const MONDAY = '2026-06-01T12:30:00Z';

const here = useTwilio({ clock: MONDAY }, (twilio) => {
  twilio.auth_token = TWILIO_TOKEN;
  return {
    PUBLIC_URL: 'https://calls.example.com',
    TRUST_PROXY: '1',
    CARRIER: 'twilio',
    TWILIO_ACCOUNT_SID: twilio.account_sid,
    TWILIO_BASE_URL: twilio.url,
  };
});
const { world } = here;
const time = world.clock;
let on: ReturnType<typeof switchboard>;
beforeEach(() => void (on = switchboard(world, time)));

interface Leg {
  noun: Element;
  sid: string;
  report(status: string): Promise<unknown>;
}
interface Ringing {
  sid: string;
  dial: Element;
  legs: Map<string, Leg>;
}

let calls = 0;
/** A call whose buyers ring at once; every leg is at the carrier. */
async function ring(buyers: Bought[]): Promise<Ringing> {
  await on.atOnce(buyers);
  const sid = `CA${world.company.id}x${++calls}`;
  const caller = {
    CallSid: sid,
    From: '+13105550188',
    To: on.companyNumber,
    CallStatus: 'ringing',
  };
  const response = await on.twiml(on.hook('voice'), caller);
  const dial = response.children.find(({ name }) => name === 'Dial')!;
  const legs = new Map<string, Leg>();
  for (const [n, noun] of dial.children.entries()) {
    const legSid = `${sid}-${n}`;
    here.server.calls.push({ sid: legSid, status: 'ringing' });
    const report = (CallStatus: string) =>
      on.twiml(noun.attributes.statusCallback!, { CallSid: legSid, CallStatus });
    await report('initiated');
    await report('ringing');
    legs.set(noun.text, { noun, sid: legSid, report });
  }
  return { sid, dial, legs };
}
const setTime = (seconds: number) =>
  time.set(new Date(Date.parse(MONDAY) + seconds * 1000).toISOString());
const atCarrier = ({ sid }: Leg) => here.server.calls.find((call) => call.sid === sid)!;
const listStatuses = async ({ sid }: Ringing) => on.attempts({ sid });
const countRecordings = () =>
  here.server.requests.filter(({ path }) => path.endsWith('/Recordings')).length;
const loadEvents = async ({ sid }: Ringing): Promise<string[]> => {
  const { id } = await on.loadCall({ sid });
  return (await on.ok('get', `calls/${id}/events`)).call_events.map(
    ({ event }: { event: string }) => event,
  );
};

describe('timeout_seconds', () => {
  test('stops a leg at its own time, and gives its slot back, while the others ring on', async () => {
    const [short, long] = [
      await on.buyer({ timeout_seconds: 15 }),
      await on.buyer({ timeout_seconds: 40 }),
    ];
    const call = await ring([short, long]);
    expect(call.dial.attributes.timeout).toBe('40');
    setTime(14);
    expect(await stopLegs(world.deps)).toBe(0);
    setTime(15);
    expect(await stopLegs(world.deps)).toBe(1);
    expect(atCarrier(call.legs.get(short.number)!).status).toBe('canceled');
    expect(atCarrier(call.legs.get(long.number)!).status).toBe('ringing');
    expect(await listStatuses(call)).toEqual(['no_answer', 'ringing']);
    expect([(await on.counts(short))[3], (await on.counts(long))[3]]).toEqual([0, 1]);
    await call.legs.get(short.number)!.report('canceled');
    expect(await stopLegs(world.deps)).toBe(0);
    await call.legs.get(long.number)!.report('in-progress');
    expect(await listStatuses(call)).toEqual(['no_answer', 'connected']);
  });

  test('a buyer who answers in the same moment keeps the call', async () => {
    const [short, long] = [
      await on.buyer({ timeout_seconds: 15 }),
      await on.buyer({ timeout_seconds: 40 }),
    ];
    const call = await ring([short, long]);
    setTime(15);
    const leg = call.legs.get(short.number)!;
    atCarrier(leg).status = 'in-progress';
    expect(await stopLegs(world.deps)).toBe(0);
    expect(atCarrier(leg).status).toBe('in-progress');
    await leg.report('in-progress');
    expect(await listStatuses(call)).toEqual(['connected', 'released']);
  });

  test('a carrier that is down for a moment is asked again', async () => {
    const [short, long] = [
      await on.buyer({ timeout_seconds: 15 }),
      await on.buyer({ timeout_seconds: 40 }),
    ];
    const call = await ring([short, long]);
    setTime(15);
    here.server.trouble([{ status: 503 }]);
    expect(await stopLegs(world.deps)).toBe(0);
    expect(await stopLegs(world.deps)).toBe(0);
    setTime(20);
    expect(await stopLegs(world.deps)).toBe(1);
    expect(await listStatuses(call)).toEqual(['no_answer', 'ringing']);
  });

  test('the background work of a server stops it', async () => {
    const [short, long] = [
      await on.buyer({ timeout_seconds: 15 }),
      await on.buyer({ timeout_seconds: 40 }),
    ];
    const call = await ring([short, long]);
    setTime(15);
    const jobs = await startJobs(world.deps);
    while ((await listStatuses(call))[0] === 'ringing') await setTimeout(50);
    await jobs.stop();
    expect(await listStatuses(call)).toEqual(['no_answer', 'ringing']);
  });

  test('two processes stop a leg once; buyers with one time need no stopping', async () => {
    const same = [
      await on.buyer({ timeout_seconds: 20 }),
      await on.buyer({ timeout_seconds: 20 }),
      await on.buyer({ timeout_seconds: 12 }),
    ];
    const call = await ring(same);
    setTime(30);
    const stopped = await Promise.all([stopLegs(world.deps), stopLegs(world.deps)]);
    expect(stopped.toSorted()).toEqual([0, 1]);
    expect(await listStatuses(call)).toEqual(['ringing', 'ringing', 'no_answer']);
  });
});

describe('record_calls', () => {
  test('is of the buyer that answers: it is recorded by its leg, once', async () => {
    const [recordedBuyer, otherBuyer] = [await on.buyer({ record_calls: true }), await on.buyer()];
    const call = await ring([recordedBuyer, otherBuyer]);
    expect(call.dial.attributes.record).toBeUndefined();
    const before = countRecordings();
    const leg = call.legs.get(recordedBuyer.number)!;
    atCarrier(leg).status = 'in-progress';
    await leg.report('in-progress');
    await leg.report('in-progress');
    expect(countRecordings() - before).toBe(1);
    const request = here.server.requests.at(-1)!;
    expect(request.path).toBe(`Calls/${leg.sid}/Recordings`);
    await on.twiml(request.form.get('RecordingStatusCallback')!, {
      RecordingUrl: 'https://api.twilio.com/recordings/RE1',
      RecordingStatus: 'completed',
      CallSid: leg.sid,
    });
    expect(await on.loadCall(call)).toMatchObject({
      recording_url: 'https://api.twilio.com/recordings/RE1',
    });
    expect((await loadEvents(call)).filter((event) => event === 'recording')).toHaveLength(1);
  });

  test('a buyer who does not want it is not recorded', async () => {
    const [recordedBuyer, otherBuyer] = [await on.buyer({ record_calls: true }), await on.buyer()];
    const call = await ring([recordedBuyer, otherBuyer]);
    const before = countRecordings();
    atCarrier(call.legs.get(otherBuyer.number)!).status = 'in-progress';
    await call.legs.get(otherBuyer.number)!.report('in-progress');
    expect(await listStatuses(call)).toEqual(['released', 'connected']);
    expect(countRecordings()).toBe(before);
  });

  test('a buyer who must press 1 is recorded when it does', async () => {
    const recordedBuyer = await on.buyer({ record_calls: true, press_one_to_accept: true });
    const otherBuyer = await on.buyer({ press_one_to_accept: true });
    const call = await ring([recordedBuyer, otherBuyer]);
    const leg = call.legs.get(recordedBuyer.number)!;
    atCarrier(leg).status = 'in-progress';
    await leg.report('in-progress');
    const before = countRecordings();
    const prompt = await on.twiml(leg.noun.attributes.url!, { CallSid: leg.sid });
    const gather = prompt.children.find(({ name }) => name === 'Gather')!;
    expect(countRecordings()).toBe(before);
    await on.twiml(gather.attributes.action!, { CallSid: leg.sid, Digits: '1' });
    expect(countRecordings() - before).toBe(1);
  });

  test('where all want it the carrier records the round; what it refuses is in the events', async () => {
    const both = [await on.buyer({ record_calls: true }), await on.buyer({ record_calls: true })];
    const call = await ring(both);
    expect(call.dial.attributes.record).toBe('record-from-answer');
    const before = countRecordings();
    await call.legs.get(both[0]!.number)!.report('in-progress');
    expect(countRecordings()).toBe(before);
    world.company = await world.addCompany();
    on = switchboard(world, time);
    const [recordedBuyer, otherBuyer] = [await on.buyer({ record_calls: true }), await on.buyer()];
    const mixed = await ring([recordedBuyer, otherBuyer]);
    here.server.trouble([{ status: 400, code: 21219 }]);
    await mixed.legs.get(recordedBuyer.number)!.report('in-progress');
    expect(await loadEvents(mixed)).toContain('recording_failed');
    expect(await listStatuses(mixed)).toEqual(['connected', 'released']);
  });
});

test('a ping reserves no more buyers than the carrier rings at once', async () => {
  const buyers: Bought[] = [];
  for (let n = 0; n < 12; n++) buyers.push(await on.buyer());
  await on.atOnce(buyers);
  const offerId = (await on.ok('get', 'offers')).offers[0].id;
  const endpoint = { name: 'P', vanity_uri: 'many', offer_id: offerId, has_auth_token: false };
  await on.ok('post', 'inbound_webhooks', endpoint);
  const ping = await on.ok('post', 'inbound_webhooks/ping/many', { caller_id: '+13105550188' });
  expect(ping.buyers.filter(({ held }: { held: boolean }) => held)).toHaveLength(10);
  const caller = {
    CallSid: `CAping${world.company.id}`,
    From: '+13105550188',
    To: on.companyNumber,
  };
  const { children } = await on.twiml(on.hook('voice'), { ...caller, CallStatus: 'ringing' });
  expect(children.find(({ name }) => name === 'Dial')!.children).toHaveLength(10);
  const used = await Promise.all(buyers.map(async (buyer) => (await on.counts(buyer))[3]));
  expect(used.reduce((sum, count) => sum! + count!, 0)).toBe(10);
});

describe('dtmf_tones', () => {
  const sip = 'sip:desk@pbx.example.com';

  test('are played to a SIP buyer when it answers', async () => {
    const buyer = await on.buyer({ number: sip, dtmf_tones: 'W1#' });
    const call = await ring([buyer]);
    const { noun, sid } = call.legs.get(sip)!;
    expect([noun.name, noun.attributes.sendDigits]).toEqual(['Sip', undefined]);
    const [play, ...more] = (await on.twiml(noun.attributes.url!, { CallSid: sid })).children;
    expect([play?.name, play?.attributes.digits, more]).toEqual(['Play', 'ww1#', []]);
    expect(await listStatuses(call)).toEqual(['connected']);
  });

  test('come before a SIP buyer is asked to press 1; without tones it hears none', async () => {
    const buyer = await on.buyer({ number: sip, dtmf_tones: '9', press_one_to_accept: true });
    const plain = await on.buyer({ number: 'sip:plain@pbx.example.com' });
    const call = await ring([buyer, plain]);
    const { noun, sid } = call.legs.get(sip)!;
    const heard = (await on.twiml(noun.attributes.url!, { CallSid: sid })).children;
    expect(heard.map(({ name }) => name)).toEqual(['Play', 'Gather', 'Hangup']);
    expect(call.legs.get(plain.number)!.noun.attributes.url).toBeUndefined();
  });
});
