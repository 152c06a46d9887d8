/** The times in an update of a lead. Undefined was not sent; null removes the value. */
export interface TimingChange {
  callback_at: Date | null | undefined;
  next_action_at: Date | null | undefined;
  restart: boolean;
  /** hours_to_expire or max_contact_attempts change. */
  limits: boolean;
}

export interface TimedLead {
  in_schedule: boolean;
  is_live: boolean;
  status: string;
}

const buildRestartColumns = (now: Date) => ({
  phase: 'actions',
  position: null,
  exit_reason: null,
  contact_attempts: 0,
  entered_at: now,
  schedule_ended_at: null,
  is_live: true,
  tries: 0,
  suppressed: false,
  unreachable: false,
});

/** Statuses of live leads that are not contacted until the reason is resolved. */
const STOPPED = ['blocked', 'opt_out', 'disabled'];

export function buildTimingColumns(lead: TimedLead, change: TimingChange, now: Date) {
  const { callback_at, restart } = change;
  const nextActionAt = decideNextAction(lead, change, now);
  const next = decideNextStep(lead, change, { next_action_at: nextActionAt, now });
  const isDue = lead.is_live ? !STOPPED.includes(lead.status) : restart;
  return {
    ...(restart && buildRestartColumns(now)),
    ...(callback_at !== undefined && { callback_at }),
    ...(nextActionAt && { next_action_at: nextActionAt }),
    ...(next && isDue && { ...next, claim_id: null }),
  };
}

/** Without a time in the request the schedule continues now. */
function decideNextAction({ in_schedule }: TimedLead, change: TimingChange, now: Date) {
  const { next_action_at, restart } = change;
  if (next_action_at) return next_action_at;
  return restart || (next_action_at === null && in_schedule) ? now : undefined;
}

/**
 * When the lead is due, and its status until then: the first row that applies. Undefined when none
 * applies.
 */
function decideNextStep(
  { in_schedule }: TimedLead,
  change: TimingChange,
  { next_action_at, now }: { next_action_at: Date | undefined; now: Date },
) {
  const { callback_at } = change;
  const idle = in_schedule ? 'scheduled' : 'queue';
  const rows = [
    { applies: Boolean(callback_at), columns: { due_at: callback_at, status: 'waiting' } },
    { applies: Boolean(next_action_at), columns: { due_at: next_action_at, status: idle } },
    { applies: callback_at === null, columns: { due_at: now, status: idle } },
    { applies: change.next_action_at === null, columns: { due_at: now } },
    { applies: change.limits, columns: { due_at: now } },
  ];
  return rows.find(({ applies }) => applies)?.columns;
}
