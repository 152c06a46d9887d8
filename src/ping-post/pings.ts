import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { Json } from '../http/reply';
import type { SellersEndpoint } from '../http/auth/webhook-tokens';
import { ping } from './ping';
import { pingAndPost, postPing } from './post';

interface Request<Body> {
  db: Db;
  body: Body;
  webhook?: SellersEndpoint | undefined;
}

type Act<Body, Reply> = (
  request: Request<Body>,
  posting: { webhook: SellersEndpoint; now: Date },
) => Promise<Reply>;

const NO_STORE = { 'Cache-Control': 'no-store' };

/** What sellers of calls ask, and are told. */
export const pings = ({ clock }: Deps) => {
  const handler =
    <Body, Reply>(act: Act<Body, Reply>) =>
    (request: Request<Body>) =>
      act(request, { webhook: request.webhook!, now: clock() });
  /** By GET the same: its answer must not be kept by anybody on the way. */
  const byGet =
    <Body, Reply>(act: Act<Body, Reply>) =>
    async (request: Request<Body>) =>
      new Json<Reply>(JSON.stringify(await handler(act)(request)), NO_STORE);
  const pinged: Act<
    Parameters<typeof pingAndPost>[1],
    Awaited<ReturnType<typeof ping>>['reply']
  > = async ({ db, body }, posting) =>
    (await ping(db, body ?? {}, { ...posting, posted: false })).reply;
  const posted: Act<Parameters<typeof postPing>[1], Awaited<ReturnType<typeof postPing>>> = (
    { db, body },
    posting,
  ) => postPing(db, body ?? {}, posting);
  const both: Act<Parameters<typeof pingAndPost>[1], Awaited<ReturnType<typeof pingAndPost>>> = (
    { db, body },
    posting,
  ) => pingAndPost(db, body ?? {}, posting);
  return {
    pingInboundWebhook: handler(pinged),
    pingInboundWebhookByGet: byGet(pinged),
    postInboundWebhook: handler(posted),
    postInboundWebhookByGet: byGet(posted),
    fullInboundWebhook: handler(both),
    fullInboundWebhookByGet: byGet(both),
  } satisfies Partial<Handlers>;
};
