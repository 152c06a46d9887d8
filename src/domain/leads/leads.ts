import { callerNumber } from '../../data/phone/caller-number';
import { lead, leadProjection as projection } from './columns';
import type { Deps } from '../deps';
import { actsForCompany } from '../../api/access/lead-token-permissions';
import type { Call, Handlers } from '../../api/handlers';
import {
  isExternal,
  isGrid,
  logChanged,
  recordReply,
  requireVisible,
} from '../../api/records/record';
import { deleteLead } from './end-lead';
import { omitSerializer } from '../../api/records/write-directly';
import { findOwner } from './lead-owner';
import {
  logPreviousLead,
  readSubmittedNumber,
  submitByToken,
  ignoreDeletedLead,
} from './submit-by-token';
import { mayUnblock, submitLead, type SubmittedLead } from './submit-lead';
import { lockContactOfLead, updateContactOfLead, updateLead } from './update-lead';

// Leads: people to call, text and mail. A submission creates a lead or updates the live lead of its
// number (src/domain/leads/submit-lead.ts). Lock order: contact, lead, numbers.

const toRecordForm = (serializer: string | undefined) => ({
  grid: isGrid(serializer),
  external: isExternal(serializer),
  by_token: false,
});

export const leads = (deps: Deps) => {
  const { clock, limits } = deps;
  const handlers = lead.handlers(deps, {
    unsaved: { status: 'scheduled', is_live: true, zones: [], data: {} },
    deletion: {
      remove: ({ tx, id, now }) => deleteLead(tx, id, now),
    },
  });
  const { change } = lead.writer(deps);
  return {
    ...handlers,
    listLeads: async ({ query, db }) => {
      const number = await callerNumber(db, query.number, 'number');
      return lead.list({ ...query, number }, { db, now: clock() });
    },

    updateLead: async (call) => {
      const { time_zone, ...fields } = omitSerializer(call.body);
      void time_zone;
      return change(call, {
        lock: (tx) => lockContactOfLead(tx, call.params.id, fields, clock()),
        work: async ({ tx, id, now, locked: number }) => {
          if (number !== undefined) await updateContactOfLead(tx, number, fields, now);
          await updateLead(tx, id, fields, now);
        },
      });
    },

    submitLead: async (call) => toSubmittedReply(await submitByToken(call, { clock, limits })),

    captureLead: (call) => capture(call, clock),
  } satisfies Partial<Handlers>;
};

async function capture(
  { body, db, caller, ip, ignored }: Call<'captureLead'>,
  clock: Deps['clock'],
) {
  const { serializer, offer_id, schedule_id, ...fields } = body;
  const owner = await findOwner(db, { offer_id, schedule_id });
  const now = clock();
  await logPreviousLead(db, { owner, number: readSubmittedNumber(fields, owner), now });
  const options = {
    owner,
    ip,
    may_unblock: mayUnblock(caller),
    for_company: actsForCompany(caller),
    credentials: caller.name,
    ignored: ignored!,
    form: toRecordForm(serializer),
  };
  const captured = await submitLead(db, fields, options, { clock });
  await requireVisible(db, projection, BigInt(captured.id));
  await ignoreDeletedLead(logChanged({ db, now, projection }, captured.id));
  return toSubmittedReply(captured);
}

function toSubmittedReply({
  record,
  id,
  created,
  service_number,
  sms_number,
  ...lead
}: SubmittedLead) {
  const byField = Object.entries(lead.warnings);
  const warnings = Object.fromEntries(
    byField.map(([field, faults]) => [field, faults.map(({ message }) => message)]),
  );
  const warningCodes = Object.fromEntries(
    byField.map(([field, faults]) => [field, faults.map(({ code }) => code)]),
  );
  const numbers = { service_number_plain: service_number, sms_number_plain: sms_number };
  return recordReply(projection, record, {
    status: created ? 201 : 200,
    extra: {
      id: Number(id),
      lead_id: Number(id),
      ...numbers,
      warnings,
      warning_codes: warningCodes,
    },
  });
}
