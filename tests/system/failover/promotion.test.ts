import { setTimeout as pause } from 'node:timers/promises';
import { startLoad, startPair, type Answer, type Pair } from '../../support/failover-pair';
import { patient } from '../../support/patience';
import { startReceiver } from '../../support/receiver';
import { repetitions } from '../../support/repetitions';
import { freezeServer, killServer, promote } from '../../support/standby';
import { parseCallId } from '../../support/webhooks';

// The primary dies under load, and its standby is promoted: what was answered with success is
// there, everything else was answered 503 with Retry-After, and the processes go on by themselves.

/** Two servers and two processes are too slow for `npm test`. */
const longTest = repetitions(0, 1) === 1 ? test : test.skip;
const CAP = 60;
/** The bound of the product: requests succeed so long after the promotion. */
const BOUND_MS = 10_000;

interface Scenario {
  /** Ends the primary; returns what ends what is left of it. */
  die: (pair: Pair) => () => void;
  /** How many requests of each kind succeed before. */
  before: number;
}

const readId = ({ body }: Answer, root: string) => (body[root] as { id: number }).id;
const isDialed = ({ body }: Answer) =>
  (body.call_session as { instruction: { action: string } }).instruction.action === 'dial';

async function runFailover({ die, before }: Scenario) {
  const receiver = await startReceiver();
  const pair = await startPair({ is_synchronous: true, with_worker: true });
  const { create, send, standby } = pair;
  await create('outgoing_webhooks', {
    name: 'Calls',
    trigger_type: 'new_call_started',
    url: receiver.url,
  });
  const buyer = await create('buyers', {
    name: 'Capped',
    number: '+12125550101',
    attempt_total_limit: CAP,
  });
  const offerId = await create('offers', { name: 'Auto', buyer_ids: [buyer] });
  const number = (n: number) => `+1310555${String(n % 10_000).padStart(4, '0')}`;
  const load = startLoad({
    call_session: (n) =>
      send('POST', 'call_sessions', { offer_id: offerId, caller_number: number(n) }),
    lead: (n) => send('POST', 'leads/capture', { offer_id: offerId, caller_id: number(n) }),
    buyer: (n) => send('PUT', `buyers/${buyer}`, { name: `Capped ${n}` }),
  });
  while (Object.values(load.counts()).some((n) => n < before)) await pause(20);
  const diedAt = Date.now();
  const cleanUp = die(pair);
  await pause(1_000);
  await promote(standby);
  const promotedAt = Date.now();
  const succeeded = () =>
    new Set(
      load.answers.flatMap(({ kind, status, at }) => (at > promotedAt && status < 300 ? kind : [])),
    );
  while (succeeded().size < 3 && Date.now() < promotedAt + 2 * BOUND_MS) await pause(20);
  await pause(1_500);
  await load.stop();
  const failures = load.answers.filter(({ status }) => status >= 300);
  const lastFailure = Math.max(promotedAt, ...failures.map(({ at }) => at));
  process.stderr.write(
    `failover: ${load.answers.length} requests, ${failures.length} failed; the first success of ` +
      `each kind at most ${findFirstSuccess(load.answers, promotedAt)} ms after the promotion, the ` +
      `last failure ${lastFailure - promotedAt} ms after it\n`,
  );
  return {
    pair,
    receiver,
    load,
    buyer,
    offer_id: offerId,
    failures,
    died_at: diedAt,
    promoted_at: promotedAt,
    last_failure: lastFailure,
    cleanUp,
  };
}

const findFirstSuccess = (
  requests: readonly { kind: string; status: number; at: number }[],
  since: number,
): number =>
  Math.max(
    ...['call_session', 'lead', 'buyer'].map(
      (kind) =>
        (requests.find(
          (request) => request.kind === kind && request.status < 300 && request.at > since,
        )?.at ?? Infinity) - since,
    ),
  );

/** Examines what is left, and ends it. */
async function examineAndEnd(outcome: Awaited<ReturnType<typeof runFailover>>): Promise<void> {
  outcome.cleanUp();
  try {
    await examine(outcome);
  } finally {
    await outcome.pair.close();
    await outcome.receiver.close();
  }
}

async function examine({
  pair,
  receiver,
  load,
  buyer,
  offer_id,
  failures,
  promoted_at,
  last_failure,
}: Awaited<ReturnType<typeof runFailover>>) {
  // Every failure is one that a client may answer by trying again.
  const kinds = failures.map(({ kind, status, headers, body }) =>
    status === 503 && headers.get('retry-after') ? 'unavailable' : [kind, status, body],
  );
  expect(kinds.filter((kind) => kind !== 'unavailable')).toEqual([]);
  expect(failures.length).toBeGreaterThan(0);
  expect(findFirstSuccess(load.answers, promoted_at)).toBeLessThan(BOUND_MS);
  expect(last_failure - promoted_at).toBeLessThan(BOUND_MS);
  // Nothing that was acknowledged is lost.
  const { standby: server } = pair;
  const loadIds = async (table: string) =>
    new Set((await server.sql<{ id: string }>(`SELECT id FROM ${table}`)).map(({ id }) => +id));
  const acknowledged = (kind: string, root = kind) =>
    load.of(kind).flatMap((request) => (request.status === 201 ? [readId(request, root)] : []));
  let calls = await loadIds('calls');
  const leads = await loadIds('leads');
  expect(acknowledged('call_session').filter((id) => !calls.has(id))).toEqual([]);
  expect(acknowledged('lead').filter((id) => !leads.has(id))).toEqual([]);
  expect(acknowledged('lead').length).toBeGreaterThan(0);
  // Caps are exact, and counters are what they count.
  while (
    isDialed(await pair.send('POST', 'call_sessions', { offer_id, caller_number: '+13105550000' }))
  )
    await pause(0);
  calls = await loadIds('calls');
  const dialed = load
    .of('call_session')
    .filter((request) => request.status === 201 && isDialed(request));
  const [attempts] = await server.sql<{ n: number }>(
    `SELECT count(*)::int AS n FROM call_attempts WHERE buyer_id = ${buyer}`,
  );
  expect(attempts!.n).toBe(CAP);
  expect(dialed.length).toBeLessThanOrEqual(CAP);
  const total = async (path: string) =>
    ((await pair.send('GET', path)).body.metadata as { total_count: number }).total_count;
  expect(await total('calls')).toBe(calls.size);
  expect(await total('leads')).toBe(leads.size);
  // The worker goes on, too: each call is delivered.
  const delivered = () => new Set(receiver.received.map(({ body }) => parseCallId(body)));
  const missing = () => [...calls].filter((id) => !delivered().has(id));
  const until = Date.now() + patient(60_000);
  while (missing().length > 0 && Date.now() < until) await pause(100);
  expect(missing()).toEqual([]);
}

longTest(
  'the primary is killed under load: nothing acknowledged is lost, and requests go on',
  async () => {
    const outcome = await runFailover({
      die: ({ primary }) => {
        killServer(primary);
        return () => undefined;
      },
      before: 60,
    });
    await examineAndEnd(outcome);
  },
);

longTest('the primary stops answering without a word: requests go on all the same', async () => {
  const outcome = await runFailover({
    die: ({ primary }) => freezeServer(primary),
    before: 20,
  });
  await examineAndEnd(outcome);
});
