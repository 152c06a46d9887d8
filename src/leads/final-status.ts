/** Statuses of a lead that has completed its schedule, each further than the one before. */
export type CompletedStatus =
  'completed' | 'completed_attempted' | 'completed_connected' | 'completed_converted';

export interface Outcome {
  /** A buyer has converted the lead. */
  converted?: boolean;
  /** A call with the lead was connected. */
  connected?: boolean;
  /** A call with the lead was attempted. */
  attempted?: boolean;
}

/** The status of a lead that has completed its schedule: how far it came. */
export function completedStatus({ converted, connected, attempted }: Outcome): CompletedStatus {
  if (converted) return 'completed_converted';
  if (connected) return 'completed_connected';
  return attempted ? 'completed_attempted' : 'completed';
}

/**
 * The status of a lead after a later call. Only leads that completed without a connected call
 * change: a conversion, a suppression or an expiry is a final result.
 */
export function statusAfterCall(status: string, connected: boolean): string {
  if (status === 'completed') return completedStatus({ attempted: true, connected });
  return status === 'completed_attempted' && connected ? completedStatus({ connected }) : status;
}
