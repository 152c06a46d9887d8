import { callerNumber } from '../../data/phone/caller-number';
import { leadProjection as projection, NEXT_ACTION_AT } from './columns';
import { buildReferenceConditions } from '../../data/records';
import type { Deps } from '../deps';
import { actsForCompany } from '../../api/access/lead-token-permissions';
import type { Call, Handlers } from '../../api/handlers';
import type { Filters } from '../../api/records/filters';
import { list } from '../../api/records/list';
import {
  isExternal,
  isGrid,
  logChanged,
  recordReply,
  requireVisible,
} from '../../api/records/record';
import { recordHandlers } from '../../api/records/record-handlers';
import { deleteLead } from './end-lead';
import { findOwner } from './lead-owner';
import {
  logPreviousLead,
  readSubmittedNumber,
  submitByToken,
  ignoreDeletedLead,
} from './submit-by-token';
import { mayUnblock, submitLead, type SubmittedLead } from './submit-lead';
import { lockContactOfLead, updateContactOfLead, updateLead } from './update-lead';
import { BY_TIMES, cachedCount, type SortKey } from '../../data/projection/list-statements';

// Leads: people to call, text and mail. A submission creates a lead or updates the live lead of its
// number (src/domain/leads/submit-lead.ts). Lock order: contact, lead, numbers.

const orders: Record<string, SortKey> = {
  ...BY_TIMES,
  status: { sql: 't.status', type: 'text' },
  lead_priority: { sql: 't.lead_priority', type: 'numeric', nullable: true },
  next_action_at: { sql: NEXT_ACTION_AT, type: 'timestamptz', nullable: true },
  last_action_at: { sql: 't.last_action_at', type: 'timestamptz', nullable: true },
  email: { sql: 't.email', type: 'text', nullable: true },
};

/** The opt-out applies to the company, or to the lead's offer or schedule. */
const HAS_OPTED_OUT = `EXISTS (
  SELECT
  FROM (
    SELECT c.company_id, c.caller_number, true AS everywhere, NULL AS offer_id, NULL AS schedule_id
    FROM contacts c
    WHERE c.opt_out
    UNION ALL
    SELECT c.company_id, c.caller_number, false, c.offer_id, c.schedule_id
    FROM contact_restrictions c
    WHERE c.opt_out
  ) x
  WHERE x.company_id = t.company_id
    AND x.caller_number = t.caller_number
    AND (x.everywhere OR x.offer_id = t.offer_id OR x.schedule_id = t.schedule_id)
)`;

const NEXT_ACTIONS = 'FROM next_action_counts c WHERE c.company_id = {company_id}';
const withNextAction = `(SELECT coalesce(sum(c.n), 0) ${NEXT_ACTIONS})`;

/**
 * One bound of a period of next actions. Leads beyond it are counted by the hour, and one by one
 * within the hour of the bound.
 */
function nextActionFilter(parameter: string, within: '>=' | '<=') {
  const time = `{${parameter}}::timestamptz`;
  const hour = `date_trunc('hour', ${time}, 'UTC')`;
  const outside = within === '>=' ? '<' : '>';
  return {
    condition: `${NEXT_ACTION_AT} ${within} ${time}`,
    among: withNextAction,
    beyond: `(
      (SELECT coalesce(sum(c.n), 0) ${NEXT_ACTIONS} AND c.hour ${outside} ${hour})
      + (
        SELECT count(*)
        FROM leads t
        WHERE t.company_id = {company_id}
          AND t.deleted_at IS NULL
          AND ${NEXT_ACTION_AT} ${outside} ${time}
          AND ${NEXT_ACTION_AT} >= ${hour}
          AND ${NEXT_ACTION_AT} < ${hour} + interval '1 hour'
      )
    )`,
  };
}

const FILTERS: Filters = {
  status: 't.status = {status}',
  number: 't.caller_number = {number}::bigint',
  email: 't.email = {email}',
  has_next_action: {
    cases: { true: `${NEXT_ACTION_AT} IS NOT NULL`, false: `${NEXT_ACTION_AT} IS NULL` },
    totals: { true: withNextAction, false: `${cachedCount('leads')} - ${withNextAction}` },
  },
  buyer_converted: { cases: { true: 't.buyer_converted', false: 'NOT t.buyer_converted' } },
  opt_out: { cases: { true: HAS_OPTED_OUT, false: `NOT ${HAS_OPTED_OUT}` } },
  next_action_at_from: nextActionFilter('next_action_at_from', '>='),
  next_action_at_to: nextActionFilter('next_action_at_to', '<='),
};

const toRecordForm = (serializer: string | undefined) => ({
  grid: isGrid(serializer),
  external: isExternal(serializer),
  by_token: false,
});

export const leads = ({ clock, limits }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listLeads: async ({ query, db }) => {
      const number = await callerNumber(db, query.number, 'number');
      const referenceFilters = buildReferenceConditions(query, {
        offer_id: 'offers',
        schedule_id: 'schedules',
        traffic_source_id: 'traffic_sources',
        buyer_id: 'buyers',
      });
      const filters = { ...FILTERS, ...referenceFilters };
      const narrowed = { ...query, number };
      return list(narrowed, { db, now: clock(), projection, orders, filters });
    },

    newLead: (call) =>
      records.showUnsaved(call, { status: 'scheduled', is_live: true, zones: [], data: {} }),
    showLead: records.show,

    updateLead: async (call) => {
      const { time_zone, ...body } = call.body;
      void time_zone;
      return records.updateLockingFirst(
        { ...call, body },
        (tx, fields) => lockContactOfLead(tx, call.params.id, fields, clock()),
        async (tx, id, { fields, now, ahead: number }) => {
          if (number !== undefined) await updateContactOfLead(tx, number, fields, now);
          await updateLead(tx, id, fields, now);
        },
      );
    },

    deleteLead: (call) => records.delete(call, deleteLead),

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
