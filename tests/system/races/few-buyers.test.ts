import { APPLICATION, twoServers } from '../../support/two-servers';

// Calls of one offer with few buyers: half of them fail at their first buyer and go on to the next,
// so that each gives back the caps of one buyer and takes those of another.

// A busy machine is no fault of the locks.
const here = twoServers({ DATABASE_TIMEOUT_SECONDS: '300' });
const BUYERS = 5;
const CONNECTIONS = 40;
const CALLS = 160;

interface Session {
  call_session: { id: number; uuid: string };
}

/** Responses by status, and the text of the first error. */
interface Answers {
  statuses: Map<number, number>;
  first_error: string | undefined;
}
const emptyAnswers = (): Answers => ({ statuses: new Map(), first_error: undefined });

interface PostRequest {
  path: string;
  body: object;
  headers?: Record<string, string>;
}

async function post<T = Session>(
  answers: Answers,
  n: number,
  { path, body, headers }: PostRequest,
): Promise<T> {
  const res = await here.send(n % 2, 'POST', path, body as Record<string, unknown>, headers);
  const text = await res.text();
  answers.statuses.set(res.status, (answers.statuses.get(res.status) ?? 0) + 1);
  if (res.status >= 300) {
    answers.first_error ??= text;
    throw new Error(text);
  }
  return JSON.parse(text) as T;
}

const toCallerNumber = (n: number) => `+1310555${String(n).padStart(4, '0')}`;

/** Half of the calls fail at their first buyer. Each event comes through the other process. */
async function playCall(answers: Answers, n: number, offerId: number): Promise<void> {
  const body = { offer_id: offerId, caller_number: toCallerNumber(n) };
  const session = await post(answers, n, { path: 'call_sessions', body });
  const path = `call_sessions/${session.call_session.uuid}/events`;
  const report = (event: object, server: number) => post(answers, server, { path, body: event });
  if (n % 2 === 0) await report({ event: n % 4 === 0 ? 'busy' : 'no_answer' }, n + 1);
  await report({ event: 'answered' }, n);
  await report({ event: 'completed', duration: 90 }, n + 1);
}

async function runInLanes(calls: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let n = next++; n < calls; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

/** Connections report their deadlocks when they end at the latest. */
async function countDeadlocks(): Promise<number> {
  for (const server of [0, 1]) await here.kill(server);
  const open = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = $1';
  while ((await here.world.sql<{ n: number }>(open, [APPLICATION]))[0]!.n > 0)
    await new Promise((done) => setTimeout(done, 50));
  const [counted] = await here.world.sql<{ deadlocks: string }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  for (const server of [0, 1]) await here.restart(server);
  return Number(counted!.deadlocks);
}

/** Pays once for a call of so many seconds; at 0 when it is dialed. */
const buildConversions = (duration: number) => ({
  buyer_conversions_schedule: [
    {
      buyer_conversions_attributes: [
        { name: 'Call', duration, revenue: 10, duplicate_timeframe: 0 },
      ],
      schedule: [],
    },
  ],
});

/** Five buyers, two of them in a group whose caps count too. */
async function createOffer(fields: (n: number) => object): Promise<number> {
  const { world, create } = here;
  world.company = await world.addCompany();
  const ids: number[] = [];
  for (let n = 0; n < BUYERS; n++) {
    const buyer = { number: `+1212555010${n}`, concurrency_cap_limit: CALLS, ...fields(n) };
    ids.push(await create('buyers', buyer));
  }
  const group = await create('buyer_groups', { name: 'Two', buyer_ids: ids.slice(0, 2) });
  return create('offers', { name: 'Auto', buyer_ids: ids.slice(2), buyer_group_ids: [group] });
}

const readSums = async () =>
  (
    await here.world.sql<Record<string, number>>(
      `SELECT
        sum(l.attempt_total_used) FILTER (WHERE l.buyer_id IS NOT NULL)::int AS attempts,
        sum(l.connection_total_used) FILTER (WHERE l.buyer_id IS NOT NULL)::int AS connections,
        sum(l.revenue_total_used) FILTER (WHERE l.buyer_id IS NOT NULL)::int AS revenue,
        sum(abs(l.concurrency_cap_used) + abs(l.pending_connections)
          + abs(l.pending_conversions) + abs(l.pending_revenue))::int AS held,
        (SELECT count(*)::int FROM call_slots s WHERE s.company_id = $1) AS slots,
        (SELECT count(*)::int FROM call_decisions d WHERE d.company_id = $1) AS decisions
      FROM call_limits l
      WHERE l.company_id = $1`,
      [here.world.company.id],
    )
  )[0]!;

test('calls that fail over among five buyers lose nothing, get no 5xx and never deadlock', async () => {
  const offerId = await createOffer(() => buildConversions(60));
  const answers = emptyAnswers();
  await runInLanes(CALLS, (n) => playCall(answers, n, offerId).catch(() => undefined));
  expect(answers.first_error).toBeUndefined();
  expect(Object.fromEntries(answers.statuses)).toEqual({ 200: CALLS * 2.5, 201: CALLS });
  expect(await readSums()).toEqual({
    attempts: CALLS * 1.5,
    connections: CALLS,
    revenue: CALLS * 10,
    held: 0,
    slots: 0,
    decisions: CALLS * 1.5,
  });
  expect(await countDeadlocks()).toBe(0);
});

/** Reserves a buyer by a ping, and lets the call come to the reservation, or not. */
async function playPing(answers: Answers, n: number, offerId: number): Promise<void> {
  const callerNumber = toCallerNumber(n);
  await post<object>(answers, n, {
    path: 'inbound_webhooks/ping/few-buyers',
    body: { caller_id: callerNumber },
  });
  if (n % 3 > 0) await playCall(answers, n, offerId);
}

interface Market {
  offer_id: number;
  source: number;
}

/** Everything that takes caps or gives them back. */
async function playAll(answers: Answers, n: number, { offer_id, source }: Market): Promise<void> {
  if (n % 5 === 0) return playPing(answers, n, offer_id);
  const headers = { 'Idempotency-Key': `call-${n}` };
  const call = { offer_id, traffic_source_id: source, caller_number: toCallerNumber(n) };
  const session = await post(answers, n, {
    path: 'call_sessions',
    body: call,
    ...(n % 4 === 1 && { headers }),
  });
  const { uuid, id } = session.call_session;
  const report = (event: object, server: number) =>
    post(answers, server, {
      path: `call_sessions/${uuid}/events`,
      body: event,
      ...(n % 8 === 3 && { headers: { 'Idempotency-Key': `${JSON.stringify(event)}-${n}` } }),
    });
  const failures = [{ event: 'busy' }, { event: 'no_answer' }, { event: 'failed' }];
  for (const failure of failures.slice(0, n % 4)) await report(failure, n + 1);
  await report({ event: 'answered' }, n);
  // One buyer must press 1; for the others this event changes nothing.
  await report({ event: 'key_press', key: '1' }, n + 1);
  await report({ event: 'completed', duration: 90 }, n + 1);
  if (n % 6 === 2)
    await post(answers, n, { path: `calls/${id}`, body: { buyer_converted: 'false', payout: 2 } });
}

test('first choices, failovers, keys, ends, returns and pings at once never get 5xx', async () => {
  const offerId = await createOffer((n) => ({
    ...buildConversions(n === 0 ? 0 : 60),
    press_one_to_accept: n === 1,
  }));
  const source = await here.create('traffic_sources', {
    name: 'Ads',
    attempt_daily_limit: 100_000,
  });
  const endpoint = {
    name: 'Seller',
    vanity_uri: 'few-buyers',
    offer_id: offerId,
    has_auth_token: false,
  };
  await here.create('inbound_webhooks', { ...endpoint, traffic_source_id: source });
  const answers = emptyAnswers();
  await runInLanes(CALLS / 2, (n) =>
    playAll(answers, n, { offer_id: offerId, source }).catch(() => undefined),
  );
  expect([...answers.statuses.keys()].filter((status) => status >= 500)).toEqual([]);
  expect(answers.statuses.get(201)).toBeGreaterThan(CALLS / 4);
});
