/** Every kind of job: its name and its payload. Payloads are JSON; ids are decimal strings. */
export interface Tasks {
  /** Applies a suppression file to its list. */
  import_suppression_file: { company_id: string; id: string };
  /** Erases the numbers and files of a deleted suppression list. */
  erase_suppression_list: { company_id: string; id: string };
  /** Resumes the leads that waited while their offer or schedule was paused. */
  resume_leads: { company_id: string; offer_id?: string; schedule_id?: string };
  /** Ends the leads of a deleted offer or schedule. */
  remove_leads: { company_id: string; offer_id?: string; schedule_id?: string };
  /** Removes a released number from the leads that used it. */
  forget_number: { company_id: string; id: string };
  send_invitation: { company_id: string; user_id: string; number: number };
  send_confirmation: { company_id: string; id: string; number: number };
  send_sign_in_link: { company_id: string; user_id: string; number: number };
  /** Sends the webhook of a schedule action for a lead. */
  send_action_webhook: { company_id: string; lead_log_id: string };
  /** Plays what follows when a call of the sandbox is answered. */
  play_sandbox_call: { company_id: string; uuid: string };
  /** Plays the buyers of a test call, the one that takes it for so many seconds. */
  play_test_call: { company_id: string; uuid: string; talk_seconds: number };
  /** Sends a command to the URL of its switch. */
  push_switch_command: { company_id: string; switch_id: string; command_id: string };
  /** Mails the alert address of a webhook that was paused or whose delivery is dead. */
  tell_of_webhook: { company_id: string; outgoing_webhook_id: string; news: 'paused' | 'dead' };
  /** Selects the recipients of an alert that has begun or ended, and queues their mails. */
  tell_of_alert: { company_id: string; alert_id: string; news: 'started' | 'ended' };
  /** Mails one recipient that an alert has begun or ended. */
  mail_alert: { company_id: string; alert_id: string; to: string; news: 'started' | 'ended' };
}

export type TaskName = keyof Tasks;

export interface TaskOptions {
  /** How many jobs of this kind one process runs at a time; half of them of one company. */
  concurrency: number;
}

export const TASKS: { readonly [Name in TaskName]: TaskOptions } = {
  import_suppression_file: { concurrency: 4 },
  erase_suppression_list: { concurrency: 2 },
  resume_leads: { concurrency: 2 },
  remove_leads: { concurrency: 2 },
  forget_number: { concurrency: 2 },
  send_invitation: { concurrency: 4 },
  send_confirmation: { concurrency: 4 },
  send_sign_in_link: { concurrency: 4 },
  send_action_webhook: { concurrency: 40 },
  play_sandbox_call: { concurrency: 4 },
  play_test_call: { concurrency: 4 },
  push_switch_command: { concurrency: 40 },
  tell_of_webhook: { concurrency: 4 },
  tell_of_alert: { concurrency: 4 },
  mail_alert: { concurrency: 4 },
};

export const TASK_NAMES = Object.keys(TASKS) as TaskName[];
