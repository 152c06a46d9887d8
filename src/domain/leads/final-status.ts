/** Statuses of a lead that has completed its schedule, each further than the one before. */
export type CompletedStatus =
  'completed' | 'completed_attempted' | 'completed_connected' | 'completed_converted';

export interface Outcome {
  converted?: boolean;
  connected?: boolean;
  attempted?: boolean;
}

export function completedStatus({ converted, connected, attempted }: Outcome): CompletedStatus {
  if (converted) return 'completed_converted';
  if (connected) return 'completed_connected';
  return attempted ? 'completed_attempted' : 'completed';
}

interface CalledLead {
  status: string;
  due_at: Date | null;
  schedule_id: string | null;
}

export function statusAfterReport(
  { status, due_at, schedule_id }: CalledLead,
  { connected, is_over }: { connected: boolean; is_over: boolean },
): string {
  if (status === 'running' && is_over) {
    if (due_at !== null) return 'scheduled';
    return schedule_id === null ? 'queue' : 'waiting';
  }
  const wasAttempted = status === completedStatus({ attempted: true });
  return wasAttempted && connected ? completedStatus({ connected }) : status;
}

/**
 * The status of a lead after a later call. Only leads that completed without a connected call
 * change: a conversion, a suppression or an expiry is a final result.
 */
export function statusAfterCall(status: string, connected: boolean): string {
  if (status === 'completed') return completedStatus({ attempted: true, connected });
  return status === 'completed_attempted' && connected ? completedStatus({ connected }) : status;
}
