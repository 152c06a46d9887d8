import { changeContacts } from './change-contacts';
import { leadProjection as projection } from './columns';
import { possible } from '../phone/caller-number';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { LeadOwner } from '../http/auth/lead-tokens';
import type { Handlers } from '../http/handlers';
import { Json } from '../http/reply';
import { show, written } from '../http/record';
import { numberReader } from '../phone/parse-number';
import { notFound } from '../errors';
import { moveToEnd, removeLead } from './end-lead';
import { findLead } from './lead-owner';

interface Request {
  params: { caller_id: string };
  query: { serializer?: string };
  db: Db;
  owner: LeadOwner | undefined;
}

type Change = (db: Db, lead: { id: bigint; number: number }, now: Date) => Promise<unknown>;

const NO_STORE = { 'Cache-Control': 'no-store' };

/** What a lead token permits: to read, opt out, remove or finish the lead of one number. */
export const leadCallers = ({ clock }: Deps) => {
  const act = (change: Change) => async (request: Request) => {
    const { params, query, db, owner } = request;
    const number = numberOf(owner!, params.caller_id, 'caller_id');
    const now = clock();
    const id = await db.transaction(async (tx) => {
      const found = await findLead(tx, owner!, number);
      if (found === undefined) throw notFound();
      await change(tx, { id: found, number }, now);
      return found;
    });
    return written({ db, now, projection, serializer: query.serializer }, id);
  };
  /** The same by GET, whose response must not be cached on the way. */
  const byGet = (handler: ReturnType<typeof act>) => async (request: Request) => {
    const { text, headers } = await handler(request);
    return new Json<never>(text, { ...headers, ...NO_STORE });
  };
  const optOut = act((db, { number }, now) =>
    changeContacts(db, 'opt_out', [number], { now, message: 'asked for by lead_token' }),
  );
  const remove = act((db, { id }, now) => removeLead(db, id, now));
  const toEnd = act((db, { id }, now) => moveToEnd(db, id, now));
  return {
    optOutLead: optOut,
    optOutLeadByGet: byGet(optOut),
    removeLead: remove,
    removeLeadByDelete: remove,
    removeLeadByGet: byGet(remove),
    moveLeadToEnd: toEnd,
    moveLeadToEndByPost: toEnd,

    showLeadByCallerNumber: async ({ params, query, db, owner, if_none_match }) => {
      const id = await findLead(
        db,
        owner!,
        numberOf(owner!, params.caller_number, 'caller_number'),
      );
      if (id === undefined) throw notFound();
      const { serializer, columns } = query;
      return show({ db, now: clock(), projection, serializer, columns, if_none_match }, String(id));
    },
  } satisfies Partial<Handlers>;
};

const numberOf = ({ country }: LeadOwner, sent: string, field: string): number =>
  possible(numberReader(country)(sent), sent, field);
