import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { FieldFaults } from '../../platform/errors';
import { toNetwork } from '../../api/auth/address';
import type { SellersEndpoint } from '../../api/auth/scheme';
import type { Handlers } from '../../api/handlers';
import {
  isCheckRequired,
  runWithPreDialChecks,
  type PreDialCheckRequired,
  type PreDialState,
} from '../routing/pre-dial';
import { ping, type PingReply } from './ping';
import { pingAndPost, postPing, type PostReply } from './post';

interface Request<Body> {
  db: Db;
  body?: Body | undefined;
  webhook?: SellersEndpoint | undefined;
  warnings?: FieldFaults | undefined;
  ip: string;
}

interface Posting {
  webhook: SellersEndpoint;
  /** The network of the sender. */
  from: string;
  max_legs: number;
  now: Date;
  preDial: PreDialState;
}

type Action<Body, Reply> = (
  db: Db,
  body: Body,
  posting: Posting,
) => Promise<Reply | PreDialCheckRequired>;

const pingAlone: Action<Schemas['PingRequest'], PingReply> = async (db, body, posting) => {
  const sold = await ping(db, body, { ...posting, posted: false });
  return isCheckRequired(sold) ? sold : sold.reply;
};

/**
 * Pings and posts, with which sellers of calls ask for a buyer. Locks are taken in this order: the
 * ping, caps of groups, caps of buyers. None is held while bidders are asked.
 */
export const pings = ({ clock, carrier, request, pepper }: Deps) => {
  const handler =
    <Body, Reply extends { warnings?: string[] }>(action: Action<Body, Reply>) =>
    async ({ db, body, webhook, ip, warnings = {} }: Request<Body>) => {
      const reply = await runWithPreDialChecks(db, { request, pepper, clock, carrier }, (preDial) =>
        action(db, body ?? ({} as Body), {
          webhook: webhook!,
          from: toNetwork(ip),
          max_legs: carrier.max_legs,
          now: clock(),
          preDial,
        }),
      );
      const texts = Object.entries(warnings).map(([name, [fault]]) => `${name} ${fault!.message}`);
      return texts.length > 0
        ? { ...reply, warnings: [...(reply.warnings ?? []), ...texts] }
        : reply;
    };
  const post: Action<Schemas['PostRequest'], PostReply> = postPing;
  return {
    pingInboundWebhook: handler(pingAlone),
    pingInboundWebhookByGet: handler(pingAlone),
    postInboundWebhook: handler(post),
    postInboundWebhookByGet: handler(post),
    fullInboundWebhook: handler(pingAndPost),
    fullInboundWebhookByGet: handler(pingAndPost),
  } satisfies Partial<Handlers>;
};
