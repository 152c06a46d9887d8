import type { Fault } from './distributed-rules';

// Registered statements that one shard cannot run as they are, and why that is so. All others keep
// to the company of the request.

interface Exception {
  reason: string;
  rules: readonly Fault['rule'][];
  statements: readonly string[];
}

const BATCHES = 'work of the background, in batches for all companies at once';

export const EXCEPTIONS: readonly Exception[] = [
  {
    reason: 'credentials say which company it is: it is not known before',
    rules: ['company'],
    statements: [
      'http.find_lead_token',
      'http.find_credentials',
      'http.find_inbound_webhook',
      'people.find_logins',
      'people.find_by_identity',
    ],
  },
  {
    reason: 'the operator asks about the installation as a whole',
    rules: ['company'],
    statements: [
      'cli.going_live',
      'installation.count_credentials',
      'alerts.count_failing_rules',
      'people.count_refused_mails',
      'installation.stored_file_keys',
      'switches.list_callers_without',
      'webhooks.measure_queues',
    ],
  },
  {
    reason: 'housekeeping, which deletes what is too old for all companies, in portions',
    rules: ['company', 'locks'],
    statements: [
      'db.delete_unused_counts',
      'people.delete_ended_sessions',
      'retention.delete_expired_bid_failures',
      'retention.delete_expired_bids',
      'retention.delete_expired_idempotency_keys',
      'retention.delete_expired_mail_counts',
      'retention.delete_expired_pings',
      'retention.delete_expired_rate_limits',
    ],
  },
  {
    reason: 'looks for the companies that have work, or for the work itself',
    rules: ['company'],
    statements: [
      'agents.find_streams_to_wake',
      'switches.find_to_wake',
      'alerts.list_watched_companies',
      'calls.find_placed_to_check',
      'calls.find_stale_calls',
      'events.look_for_news',
      'http.find_current_rights',
      'leads.find_schedule_events',
      'webhooks.list_companies_with_events',
      'webhooks.list_companies_with_deliveries',
      'webhooks.list_companies_with_logs',
    ],
  },
  {
    reason: BATCHES,
    rules: ['company'],
    statements: [
      'leads.apply_calls',
      'leads.delete_new_calls',
      'leads.fold_next_actions',
      'leads.write_logs',
      'numbers.of_companies',
      'outreach.add_contacts',
      'outreach.find_suppressions',
      'outreach.load_call_facts',
      'outreach.load_contactability',
      'outreach.load_offers',
      'outreach.load_schedules',
      'switches.find_live_switches',
      'webhooks.renew_leases',
    ],
  },
  {
    reason: `${BATCHES}, which claims or locks their rows`,
    rules: ['company', 'locks'],
    statements: [
      'calls.claim_cost_looks',
      'calls.claim_legs_to_stop',
      'db.return_unused_rate_limit',
      'leads.lock_new_calls',
      'outreach.claim_by_priority',
      'outreach.claim_by_time',
      'outreach.lock_claimed_leads',
      'outreach.lock_contacts',
      'outreach.release_leads',
      'webhooks.claim_queues',
      'webhooks.write_results',
    ],
  },
  {
    reason: 'outreach asks for the leads of a batch at once; a call asks for its own company',
    rules: ['company'],
    statements: ['value_lists.find_members', 'value_lists.find_user_ids'],
  },
  {
    reason: 'puts a row at the end of a queue, whose places have one order in the installation',
    rules: ['volatile'],
    statements: ['leads.postpone_schedule_event'],
  },
  {
    reason: 'puts a file at the end of the queue, if it can be imported',
    rules: ['mutable', 'volatile'],
    statements: ['suppression.queue_file'],
  },
  {
    reason: 'the answer was before the end that the carrier reports',
    rules: ['mutable'],
    statements: ['outreach.update_call'],
  },
];

/** Statements that are no queries. */
export const NO_QUERIES: readonly string[] = [
  'routing.savepoint',
  'routing.roll_back_to_savepoint',
];

/** Rooms whose statements are about the nodes of a cluster, not about companies. */
export const NODE_ROOMS: readonly string[] = ['cells.'];

/** Statements that write what calls are routed by, whose callers count that. */
export const COUNTED_BY_CALLERS: readonly string[] = [
  'webhooks.count_webhooks_of_buyers',
  'webhooks.pause_webhook',
];
