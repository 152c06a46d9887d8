import { changeContacts } from './change-contacts';
import { leadProjection as projection } from './columns';
import { possible } from '../phone/caller-number';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Caller } from '../http/auth/caller';
import { actsForCompany, type LeadOwner } from '../http/auth/lead-tokens';
import type { Handlers } from '../http/handlers';
import { requireUnchanged, show, unsaved, written } from '../http/record';
import { numberReader } from '../phone/parse-number';
import { notFound } from '../errors';
import { moveToEnd, removeLead } from './end-lead';
import { findLead } from './lead-owner';
import { restrictContact } from './restrict-contact';
import { readsByToken } from './token-powers';

interface Request {
  params: { caller_id: string };
  query: { serializer?: string };
  db: Db;
  owner: LeadOwner | undefined;
  caller: Caller;
  ip: string;
}

interface Asked {
  number: number;
  now: Date;
  request: Request;
}
type Change = (db: Db, asked: Asked & { id: bigint }) => Promise<unknown>;
type WithoutLead = (db: Db, asked: Asked) => ReturnType<typeof unsaved<typeof projection>>;

const noLead: WithoutLead = () => {
  throw notFound();
};

/** An opt-out concerns the person: it needs no lead. */
const stopContact = (db: Db, { number, now, request: { owner, caller, ip } }: Asked) =>
  actsForCompany(caller)
    ? changeContacts(db, 'opt_out', [number], { now, message: 'asked for by lead_token' })
    : restrictContact(db, { change: 'opt_out', number, owner: owner!, now, ip });

/** Required columns of a reply about a lead that is not stored. */
const NO_LEAD = { zones: [], data: {} };
const numberOrNull = (id: bigint | null) => (id === null ? null : Number(id));

const stopWithoutLead: WithoutLead = async (db, { number, now, request }) => {
  await stopContact(db, { number, now, request });
  const { offer_id, schedule_id } = request.owner!;
  const row = { caller_number: number, offer_id: numberOrNull(offer_id), status: 'opt_out' };
  const lead = { ...row, schedule_id: numberOrNull(schedule_id), is_live: false, ...NO_LEAD };
  const by_token = await readsByToken(db, request.caller);
  const { serializer } = request.query;
  return unsaved({ db, now, projection, serializer, by_token }, lead);
};

export const leadCallers = ({ clock, limits }: Deps) => {
  const act =
    (change: Change, withoutLead: WithoutLead = noLead) =>
    async (request: Request) => {
      const { params, query, db, caller } = request;
      const owner = request.owner!;
      const number = numberOf(owner, params.caller_id, 'caller_id');
      await limits.takeNumber({ owner, caller, number });
      const now = clock();
      const done = await db.transaction(async (tx) => {
        const found = await findLead(tx, owner, number);
        if (found === undefined) return withoutLead(tx, { number, now, request });
        const masked = await readsByToken(tx, caller, found);
        const options = { db: tx, now, projection, if_match: undefined, by_token: masked };
        await requireUnchanged(options, String(found));
        await change(tx, { id: found, number, now, request });
        return { id: found, by_token: masked };
      });
      if (!('id' in done)) return done;
      const { id, by_token } = done;
      return written({ db, now, projection, serializer: query.serializer, by_token }, id);
    };
  const optOut = act(stopContact, stopWithoutLead);
  const remove = act((db, { id, now }) => removeLead(db, id, now));
  const toEnd = act((db, { id, now }) => moveToEnd(db, id, now));
  return {
    optOutLead: optOut,
    optOutLeadByGet: optOut,
    optOutLeadByPost: optOut,
    removeLead: remove,
    removeLeadByDelete: remove,
    removeLeadByGet: remove,
    moveLeadToEnd: toEnd,
    moveLeadToEndByPost: toEnd,

    showLeadByCallerNumber: async ({ params, query, db, owner, caller, if_none_match }) => {
      const number = numberOf(owner!, params.caller_number, 'caller_number');
      await limits.takeNumber({ owner: owner!, caller, number });
      const id = await findLead(db, owner!, number);
      if (id === undefined) throw notFound();
      const by_token = await readsByToken(db, caller, id);
      const options = { ...query, db, now: clock(), projection, if_none_match, by_token };
      return show(options, String(id));
    },
  } satisfies Partial<Handlers>;
};

const numberOf = ({ country }: LeadOwner, sent: string, field: string): number =>
  possible(numberReader(country)(sent), sent, field);
