/** Every kind of job: its name and what it is told. Payloads are JSON; ids are decimal strings. */
export interface Tasks {
  /** Applies a suppression file to its list. */
  import_suppression_file: { company_id: string; id: string };
  /** Erases the numbers and files of a deleted suppression list. */
  erase_suppression_list: { company_id: string; id: string };
  /** Brings the leads that waited while their offer or schedule was paused back into action. */
  resume_leads: { company_id: string; offer_id?: string; schedule_id?: string };
  /** Ends the leads of a deleted offer or schedule. */
  remove_leads: { company_id: string; offer_id?: string; schedule_id?: string };
  /** Takes a released number from the leads that had it. */
  forget_number: { company_id: string; id: string };
  /** Mails an invitation to a user. */
  send_invitation: { company_id: string; user_id: string; number: number };
  /** Sends the webhook of a schedule's action for a lead. */
  send_action_webhook: { company_id: string; lead_log_id: string };
  /** Tells whom a webhook names that it is in trouble. */
  tell_of_webhook: { company_id: string; outgoing_webhook_id: string; news: 'paused' | 'dead' };
}

export type TaskName = keyof Tasks;

export interface TaskOptions {
  /** Jobs of the kind that one process runs at a time. */
  concurrency: number;
}

export const TASKS: { readonly [Name in TaskName]: TaskOptions } = {
  import_suppression_file: { concurrency: 2 },
  erase_suppression_list: { concurrency: 1 },
  resume_leads: { concurrency: 1 },
  remove_leads: { concurrency: 1 },
  forget_number: { concurrency: 1 },
  send_invitation: { concurrency: 2 },
  send_action_webhook: { concurrency: 20 },
  tell_of_webhook: { concurrency: 2 },
};

export const TASK_NAMES = Object.keys(TASKS) as TaskName[];
