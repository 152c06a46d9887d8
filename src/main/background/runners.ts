import type { Deps } from '../../domain/deps';
import { eraseSuppressionList } from '../../domain/suppression/erase-list';
import { removeLeads, resumeLeads } from '../../domain/leads/owner-leads';
import { importSuppressionFile } from '../../domain/suppression/import-file';
import { forgetNumber } from '../../domain/numbers/release-number';
import { sendConfirmation } from '../../domain/people/send-confirmation';
import { sendInvitation } from '../../domain/people/send-invitation';
import { sendSignInLink } from '../../domain/people/send-sign-in-link';
import { sendActionWebhook } from '../../domain/outreach/send-action-webhook';
import { mailAlert } from '../../domain/alerts/mail-alert';
import { enqueueAlertMails } from '../../domain/alerts/tell-of-alert';
import { pushCommand } from '../../domain/switches/push-command';
import { alertOwner } from '../../domain/webhooks/alert-owner';
import { playSandboxCall, playTestCall } from '../../domain/telephony/play-sandbox-call';
import type { Runners } from '../../data/jobs/queue';

/** The runner of each kind of job: a missing kind does not compile. */
export const createRunners = (deps: Deps): Runners => ({
  import_suppression_file: (payload, context) => importSuppressionFile(payload, context, deps),
  erase_suppression_list: (payload, context) => eraseSuppressionList(payload, context, deps),
  resume_leads: (payload, context) => resumeLeads(payload, context, deps),
  send_action_webhook: (payload, context) => sendActionWebhook(payload, context, deps),
  tell_of_webhook: (payload, context) => alertOwner(payload, context, deps),
  tell_of_alert: (payload) => enqueueAlertMails(payload, deps),
  mail_alert: (payload, context) => mailAlert(payload, context, deps),
  play_sandbox_call: (payload) => playSandboxCall(payload, deps),
  play_test_call: (payload) => playTestCall(payload, deps),
  push_switch_command: (payload, context) => pushCommand(payload, context, deps),
  forget_number: (payload, context) => forgetNumber(payload, context, deps),
  send_invitation: (payload) => sendInvitation(payload, deps),
  send_confirmation: (payload) => sendConfirmation(payload, deps),
  send_sign_in_link: (payload) => sendSignInLink(payload, deps),
  remove_leads: (payload, context) => removeLeads(payload, context, deps),
});
