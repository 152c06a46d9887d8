import { sendActionWebhook } from '../../src/domain/outreach/send-action-webhook';
import { eventually } from './engine-process';
import { NOON, runEngine } from './leads';
import { SCOPES } from './partner';
import { standingClock } from './clock';
import { nextNumber } from './records';
import { createMember, type Member } from './teams';
import { useWorld } from './use-world';

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

const PAYS = { current_conversion_revenue: 20, current_conversion_duration: 5 };

/**
 * A partner who is granted one buyer and the offer that it shares with a rival: registers the hooks
 * of a test file.
 */
export function attackOnOffers() {
  const time = standingClock(NOON);
  const world = useWorld({
    clock: time.read,
    own_number: true,
    webhooks: true,
    receiver: ({ path }) => answers[path.slice(1).replace(/\d.*/, '')] ?? 200,
  });
  const { ok } = world;
  let sequence = 1_000;
  /** A new path at the receiver, and the requests that it has got. */
  const endpoint = (kind = 'hook') => {
    const path = `/${kind}${++sequence}`;
    return {
      url: `${world.receiver.url}${path}`,
      got: () => world.receiver.received.filter((request) => request.path.startsWith(path)),
    };
  };

  const scene = async (permissions = PARTNER, grants: object = {}): Promise<Scene> => {
    const { Rival, Mine, Shared, Calls } = await world.createRecords({
      buyers: { Rival: { tier: 1, ...PAYS }, Mine: { tier: 2, ...PAYS } },
      offers: { Shared: { buyer_ids: ['Mine', 'Rival'] } },
      schedules: { Calls: { offer_id: 'Shared' } },
    });
    const partner = await createMember(world.company, `partner${++sequence}@example.com`, {
      permissions,
      buyer_ids: [Mine],
      offer_ids: [Shared],
      ...grants,
    });
    return {
      mine: Mine,
      rival: Rival,
      offer: Shared,
      schedule: Calls,
      partner,
      lead_token: (await ok('get', `offers/${Shared}`)).offer.lead_token,
      schedule_token: (await ok('get', `schedules/${Calls}`)).schedule.lead_token,
    };
  };

  const begin = async (offerId: number, callerNumber = nextNumber('+1310557')) =>
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
    const body = {
      lead_token: leadToken,
      caller_id: nextNumber('+1310558'),
      email: 'ann@example.com',
      data: { secret: 'of a lead' },
    };
    const res = await world.api('post', 'leads', { auth: null, body });
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
  return { world, ok, endpoint, scene, begin, take, settled, submit, outreach, later: time.later };
}

export type Attack = ReturnType<typeof attackOnOffers>;
