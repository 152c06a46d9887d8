import type { Deps } from '../deps';
import { eraseSuppressionList } from '../workflows/erase-suppression-list';
import { removeLeads, resumeLeads } from '../workflows/leads-of-owner';
import { importSuppressionFile } from '../workflows/import-suppression-file';
import { forgetNumber } from '../workflows/release-number';
import { sendInvitation } from '../workflows/send-invitation';
import { sendActionWebhook } from '../workflows/send-action-webhook';
import { tellOfWebhook } from '../workflows/tell-of-webhook';
import type { Runners } from './queue';

/** Every kind of job and the workflow that does it: a kind without one does not compile. */
export const createRunners = (deps: Deps): Runners => ({
  import_suppression_file: (payload, context) => importSuppressionFile(payload, context, deps),
  erase_suppression_list: (payload, context) => eraseSuppressionList(payload, context, deps),
  resume_leads: (payload, context) => resumeLeads(payload, context, deps),
  send_action_webhook: (payload, context) => sendActionWebhook(payload, context, deps),
  tell_of_webhook: (payload, context) => tellOfWebhook(payload, context, deps),
  forget_number: (payload, context) => forgetNumber(payload, context, deps),
  send_invitation: (payload) => sendInvitation(payload, deps),
  remove_leads: (payload, context) => removeLeads(payload, context, deps),
});
