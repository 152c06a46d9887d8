import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import { COMPANY_WIDE, isPermitted, type Caller } from '../../api/auth/caller';
import { noun } from '../../api/records/noun';
import { chooseLeadToken, revokeLeadToken, saveLeadToken } from '../offers/lead-token';
import { revokeSourceTokens } from '../offers/source-tokens';
import { buildPauseColumns } from '../people/paused-by';
import { requireValueLists } from '../value-lists/require-lists';

// Schedules: the steps by which leads are contacted, and the hours in which they may be. engine/
// decides the next step for a lead, and its time; it is pure. Locks: value lists, suppression
// lists, the offer, the schedule.

const schedule = noun({
  schema: 'Schedule',
  singular: 'schedule',
  plural: 'schedules',
  search: ['name', 'user_schedule_id', 'description', 'external_record_id'],
  computed: {
    business_hours_schedule: 't.business_hours',
    schedule_action_ids: `ARRAY(
      SELECT a.id FROM schedule_actions a
      WHERE a.company_id = t.company_id AND a.schedule_id = t.id AND a.deleted_at IS NULL
      ORDER BY a.end_of_schedule, a.position
    )`,
  },
  references: ['offer_id'],
  parts: {
    buyer_suppression_ids: {
      pairs: 'buyer_suppression_schedules',
      column: 'buyer_suppression_id',
      locked: 'before',
    },
  },
  detach: { deleted: ['buyerSuppressionSchedule'] },
});
export const { projection } = schedule;

export const schedules = (deps: Deps) => {
  const { queue, authenticator } = deps;
  return schedule.handlers(deps, {
    reads: ['paused', 'lead_token', 'triggers'],
    unsaved: { ...schedule.defaults, business_hours: [] },

    lock: async ({ tx, fields: { triggers } }) => {
      for (const [n, { token_filter_list }] of (triggers ?? []).entries())
        await requireValueLists(tx, token_filter_list, `triggers.${n}.token_filter_list`);
    },

    columns: ({ fields, before, references, caller, now }) => {
      if (before) requireOffer(fields.triggers ?? before.triggers, references.offer_id, caller);
      const { business_hours_schedule: hours, exit_on, triggers } = fields;
      return {
        business_hours: hours ?? undefined,
        exit_on: exit_on && [...new Set(exit_on)],
        triggers: triggers?.map(({ on, token_filter_list = [] }) => ({ on, token_filter_list })),
        ...buildPauseColumns(before ?? { paused: false }, fields.paused, { caller, now }),
        lead_token: chooseLeadToken(fields, before),
      };
    },

    save: async ({ tx, id, fields, before, row }) => {
      const token = row.lead_token as string;
      await saveLeadToken(tx, { schedule_id: id }, { token, before }, authenticator);
      if (before?.paused && fields.paused === false)
        await queue.add(tx, 'resume_leads', toJob(tx, id));
    },

    deletion: {
      detach: async ({ tx, id, now, before: { lead_token } }) => {
        const ofSchedule = { schedule_id: id };
        await revokeLeadToken(tx, ofSchedule, lead_token, authenticator);
        await revokeSourceTokens(tx, ofSchedule, now);
        await queue.add(tx, 'remove_leads', toJob(tx, id));
      },
    },
  });
};

const toJob = ({ company_id }: Db, id: bigint) => ({
  company_id: String(company_id),
  schedule_id: String(id),
});

/** Without an offer, the triggers of a schedule apply to all offers of the company. */
function requireOffer(triggers: unknown, offerId: bigint | null | undefined, caller: Caller): void {
  const isForAll = offerId === null && (triggers as unknown[]).length > 0;
  if (isForAll && caller.teams && !isPermitted(caller, COMPANY_WIDE))
    throw HttpProblem.field(
      'offer_id',
      'beyond_your_rights',
      `must be given, as the schedule has triggers: without an offer it needs ${COMPANY_WIDE}`,
    );
}
