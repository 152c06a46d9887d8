import { startWebhooks } from '../../src/main/background/webhook-loops';
import { sendActionWebhook } from '../../src/domain/outreach/send-action-webhook';
import { eventually } from './engine-process';
import { NOON, ownNumber, runEngine } from './leads';
import { SCOPES } from './partner';
import { startReceiver } from './receiver';
import { standingClock } from './clock';
import { createMember, type Member } from './teams';
import { createWorld, type World } from './world';

/** Permissions that a network may give a partner: all but those over the whole company. */
export const PARTNER = SCOPES.filter((scope) => !scope.startsWith('company_wide'));

export interface Scene {
  mine: number;
  rival: number;
  offer: number;
  lead_token: string;
  schedule: number;
  schedule_token: string;
  partner: Member;
}

/** Statuses that the receiver answers with, by the kind of the path. */
const answers: Record<string, number> = { veto: 403, down: 500 };

/** A partner who is granted one buyer and the offer that it shares with a rival. */
export async function attackOnOffers() {
  const receiver = await startReceiver(
    ({ path }) => answers[path.slice(1).replace(/\d.*/, '')] ?? 200,
  );
  const time = standingClock(NOON);
  const world: World = await createWorld({
    clock: time.read,
    environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' },
  });
  const running = startWebhooks(world.deps);
  await ownNumber(world, world.company);
  let sequence = 0;
  const ok = async (method: 'get' | 'post' | 'put' | 'delete', path: string, body?: object) => {
    const res = await world.company.api(method, path, body && { body });
    if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
    return res.body;
  };
  const buyer = async (name: string, tier: number) =>
    (
      await ok('post', 'buyers', {
        name,
        tier,
        number: `+1212555${String(1000 + ++sequence)}`,
        current_conversion_revenue: 20,
        current_conversion_duration: 5,
      })
    ).buyer.id as number;
  /** A new path at the receiver, and the requests that it has got. */
  const endpoint = (kind = 'hook') => {
    const path = `/${kind}${++sequence}`;
    return {
      url: `${receiver.url}${path}`,
      got: () => receiver.received.filter((request) => request.path.startsWith(path)),
    };
  };

  const scene = async (permissions = PARTNER, grants: object = {}): Promise<Scene> => {
    const [rival, mine] = [await buyer('Rival', 1), await buyer('Mine', 2)];
    const { offer } = await ok('post', 'offers', { name: 'Shared', buyer_ids: [mine, rival] });
    const { schedule } = await ok('post', 'schedules', { name: 'Calls', offer_id: offer.id });
    const partner = await createMember(world.company, `partner${++sequence}@example.com`, {
      permissions,
      buyer_ids: [mine],
      offer_ids: [offer.id],
      ...grants,
    });
    const { lead_token } = offer;
    const scheduleToken = schedule.lead_token;
    const ids = { offer: offer.id, schedule: schedule.id };
    return { mine, rival, partner, lead_token, schedule_token: scheduleToken, ...ids };
  };

  const begin = async (offerId: number, callerNumber = `+1310557${1000 + ++sequence}`) =>
    (
      await ok('post', 'call_sessions', {
        offer_id: offerId,
        caller_number: callerNumber,
        tokens: { secret: 'of a caller' },
      })
    ).call_session;
  /** A call that the buyer pays for, or one that is too short for that. */
  const take = async ({ offer, mine, rival }: Scene, by: 'mine' | 'rival', duration = 9) => {
    await ok('put', `buyers/${by === 'mine' ? rival : mine}`, { paused: true });
    const call = await begin(offer);
    for (const event of [
      { event: 'answered' },
      { event: 'duration', duration },
      { event: 'completed', duration },
    ])
      await ok('post', `call_sessions/${call.id}/events`, event);
    await ok('put', `buyers/${by === 'mine' ? rival : mine}`, { paused: false });
    return call.id as number;
  };
  /** Waits until all events have become deliveries, and these are sent. */
  const settled = () =>
    eventually(async () => {
      const [{ n }] = (await world.sql(
        `SELECT (SELECT count(*) FROM webhook_events)
          + (
            SELECT count(*)
            FROM webhook_deliveries d
            JOIN outgoing_webhooks w ON w.company_id = d.company_id AND w.id = d.outgoing_webhook_id
            WHERE d.due_at IS NOT NULL AND NOT w.paused
          ) AS n`,
      )) as [{ n: string }];
      return n === '0';
    });
  const submit = async (leadToken: string) => {
    const callerId = `+1310558${1000 + ++sequence}`;
    const body = {
      lead_token: leadToken,
      caller_id: callerId,
      email: 'ann@example.com',
      data: { secret: 'of a lead' },
    };
    const res = await world.company.api('post', 'leads', { auth: null, body });
    return res.body.id as number;
  };
  /** Runs the due steps of leads, and sends the action webhooks that these queue. */
  const outreach = async () => {
    await runEngine(world);
    const queued = await world.sql<{ id: string }>(
      `SELECT id FROM lead_logs WHERE event = 'webhook_queued' AND details IS NULL`,
    );
    for (const { id } of queued)
      await sendActionWebhook(
        { company_id: String(world.company.id), lead_log_id: id },
        { job_id: 'x', signal: new AbortController().signal },
        world.deps,
      ).catch(() => undefined);
  };
  const later = (seconds: number) =>
    time.set(new Date(time.read().getTime() + seconds * 1000).toISOString());
  const close = async () => {
    await running.stop();
    await world.close();
    await receiver.close();
  };
  return { world, ok, endpoint, scene, begin, take, settled, submit, outreach, later, close };
}

export type Attack = Awaited<ReturnType<typeof attackOnOffers>>;
