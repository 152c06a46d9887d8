import type { Db } from '../../data/tenant';
import { HttpProblem } from '../../platform/errors';
import { findLead } from './lead-owner';
import type { Submission } from './upsert-lead';

/** Taking a number off the blacklist needs a permission of its own. */
export function buildUnblockProblem(): HttpProblem {
  const message = 'needs an auth_token with the permission leads:update';
  return HttpProblem.field('unblock_contact', 'not_permitted', message);
}

export async function findSubmissionProblem(db: Db, submission: Submission): Promise<HttpProblem> {
  const { caller_number, update_only, only_own_source } = submission;
  const isLive = async () => (await findLead(db, submission, caller_number)) !== undefined;
  if (only_own_source && (await isLive()))
    return HttpProblem.field(
      'caller_id',
      'taken',
      'is that of a live lead which came from elsewhere: nothing was changed',
    );
  return update_only
    ? HttpProblem.field(
        'update_only',
        'wrong_state',
        'finds no live lead of this number to update; no lead was created',
      )
    : HttpProblem.field(
        'lead_token',
        'wrong_state',
        'belongs to an offer or a schedule that was deleted',
      );
}
