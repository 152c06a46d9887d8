import { changeContacts, restrictContact } from './change-contacts';
import { leadProjection as projection } from './columns';
import { requirePossible } from '../../data/phone/caller-number';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Caller } from '../../api/auth/caller';
import { type LeadOwner } from '../../api/auth/scheme';
import type { Handlers } from '../../api/handlers';
import { requireUnchanged, show, loadUnsavedReply, loadWriteReply } from '../../api/records/record';
import { numberReader } from '../../data/phone/parse-number';
import { notFound } from '../../platform/errors';
import { moveToEnd, removeLead } from './end-lead';
import { findLead } from './lead-owner';
import { actsForCompany, readsByToken } from '../../api/access/lead-token-permissions';

interface Request {
  params: { caller_id: string };
  query: { serializer?: string };
  db: Db;
  owner: LeadOwner | undefined;
  caller: Caller;
  ip: string;
}

interface CallerRequest {
  number: number;
  now: Date;
  request: Request;
}
type Change = (db: Db, input: CallerRequest & { id: bigint }) => Promise<unknown>;
type MissingLeadHandler = (
  db: Db,
  input: CallerRequest,
) => ReturnType<typeof loadUnsavedReply<typeof projection>>;

const rejectMissingLead: MissingLeadHandler = () => {
  throw notFound();
};

/** An opt-out concerns the person: it needs no lead. */
const optOutContact = (db: Db, { number, now, request: { owner, caller, ip } }: CallerRequest) =>
  actsForCompany(caller)
    ? changeContacts(db, 'opt_out', [number], { now, message: 'asked for by lead_token' })
    : restrictContact(db, { change: 'opt_out', number, owner: owner!, now, ip });

/** Required columns of a reply about a lead that is not stored. */
const UNSAVED_LEAD = { zones: [], data: {} };
const numberOrNull = (id: bigint | null) => (id === null ? null : Number(id));

const optOutWithoutLead: MissingLeadHandler = async (db, { number, now, request }) => {
  await optOutContact(db, { number, now, request });
  const { offer_id, schedule_id } = request.owner!;
  const row = { caller_number: number, offer_id: numberOrNull(offer_id), status: 'opt_out' };
  const lead = { ...row, schedule_id: numberOrNull(schedule_id), is_live: false, ...UNSAVED_LEAD };
  const byToken = await readsByToken(db, request.caller);
  const { serializer } = request.query;
  return loadUnsavedReply({ db, now, projection, serializer, by_token: byToken }, lead);
};

export const leadCallers = ({ clock, limits }: Deps) => {
  const act =
    (change: Change, withoutLead: MissingLeadHandler = rejectMissingLead) =>
    async (request: Request) => {
      const { params, query, db, caller } = request;
      const owner = request.owner!;
      const number = requireNumber(owner, params.caller_id, 'caller_id');
      await limits.takeNumber({ owner, caller, number });
      const now = clock();
      const done = await db.transaction(async (tx) => {
        const leadId = await findLead(tx, owner, number);
        if (leadId === undefined) return withoutLead(tx, { number, now, request });
        const masked = await readsByToken(tx, caller, leadId);
        const options = { db: tx, now, projection, if_match: undefined, by_token: masked };
        await requireUnchanged(options, String(leadId));
        await change(tx, { id: leadId, number, now, request });
        return { id: leadId, by_token: masked };
      });
      if (!('id' in done)) return done;
      const { id, by_token } = done;
      return loadWriteReply({ db, now, projection, serializer: query.serializer, by_token }, id);
    };
  const optOut = act(optOutContact, optOutWithoutLead);
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
      const number = requireNumber(owner!, params.caller_number, 'caller_number');
      await limits.takeNumber({ owner: owner!, caller, number });
      const id = await findLead(db, owner!, number);
      if (id === undefined) throw notFound();
      const byToken = await readsByToken(db, caller, id);
      const options = { ...query, db, now: clock(), projection, if_none_match, by_token: byToken };
      return show(options, String(id));
    },
  } satisfies Partial<Handlers>;
};

const requireNumber = ({ country }: LeadOwner, text: string, field: string): number =>
  requirePossible(numberReader(country)(text), text, field);
