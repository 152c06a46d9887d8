import { Prisma } from '../../generated/prisma/client';
import type { Schemas } from '../../platform/contract/contract';
import { toMakerColumns } from '../../data/access/makers';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import { isPermitted, type Caller } from '../../api/auth/caller';
import { noun } from '../../api/records/noun';
import { buildActionRow } from './change-action';

// Actions of schedules. The schedule is locked before its actions.

const scheduleAction = noun({
  schema: 'ScheduleAction',
  singular: 'schedule_action',
  plural: 'schedule_actions',
  search: ['name', 'subject', 'body', 'external_record_id'],
  computed: { token_filter_list: 't.token_filters' },
});

export const scheduleActions = (deps: Deps) =>
  scheduleAction.handlers(deps, {
    reads: Object.values(Prisma.ScheduleActionScalarFieldEnum),
    unsaved: { end_of_schedule: false, token_filters: [] },
    columns: async ({ tx, fields, before, caller }) => {
      if (!before) requireReadable(caller, fields.action_type!);
      const existing = before && {
        ...before,
        schedule_id: String(before.schedule_id),
        to_schedule_id: before.to_schedule_id && String(before.to_schedule_id),
      };
      const row = await buildActionRow(
        tx,
        existing as Schemas['ScheduleActionFields'] | undefined,
        fields,
        deps.config.webhook_allow_networks,
      );
      requireReadable(caller, row.action_type);
      return { ...row, ...toMakerColumns(tx) };
    },
  });

/** A webhook sends leads: only callers that may read leads can create one. */
function requireReadable(caller: Caller, actionType: string): void {
  if (actionType !== 'webhook' || isPermitted(caller, 'leads:read')) return;
  throw HttpProblem.field(
    'action_type',
    'beyond_your_rights',
    'needs leads:read for webhook, which these credentials lack: it sends leads',
  );
}
