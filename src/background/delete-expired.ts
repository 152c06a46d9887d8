import { deleteExpiredRateLimits } from '../db/rate-limit-counter';
import { deleteUnusedCounts } from '../db/saved-counts';
import type { Deps } from '../deps';
import { deleteExpiredAnswers } from '../http/idempotency';
import { foldNextActions } from '../leads/fold-next-actions';
import { deleteExpiredPings } from '../ping-post/delete-expired-pings';
import { deleteOldRecords } from '../retention/delete-old';
import { deleteExpiredBids } from '../routing/delete-expired-bids';
import { deleteOldWebhookLogs } from '../webhooks/delete-old-logs';
import { deleteOrphanedUploads } from './delete-orphaned-uploads';

const HOUR_MS = 3_600_000;

/**
 * Deletes what is kept for a limited time, and what is no longer needed: now and every hour.
 * Returns what ends it.
 */
export function deleteExpiredHourly(deps: Deps): () => void {
  deleteExpired(deps);
  const deleting = setInterval(() => deleteExpired(deps), HOUR_MS);
  return () => clearInterval(deleting);
}

function deleteExpired(deps: Deps): void {
  const { config, log } = deps;
  const deletions = [
    deleteOrphanedUploads(deps),
    deps.directory.clean(),
    ...deps.parts().flatMap((part) => {
      const { sql } = part.database;
      return [
        deleteExpiredAnswers(sql),
        deleteExpiredPings(sql),
        deleteExpiredBids(sql),
        deleteExpiredRateLimits(sql),
        deleteUnusedCounts(sql),
        foldNextActions(sql),
        deleteOldWebhookLogs(part, config.webhook_log_days),
        deleteOldRecords(part, config),
      ];
    }),
  ];
  for (const deletion of deletions)
    deletion.catch((error: unknown) => log.warn({ err: error }, 'expired data was not deleted'));
}
