import { all, at, HOURS, limits, type Effects, type CodeLocation } from './effect';

// The code in which the fields of buyers, groups, suppression lists and offers have their effect.

const CAPS = at('prisma/sql/caps/cap_counters.sql');
const BUYER_LISTS = {
  ...all(
    'buyer_ids add_buyer_ids remove_buyer_ids add_user_buyer_ids remove_user_buyer_ids',
    at('src/data/attachments.ts'),
  ),
};
const TEAMS = at('src/domain/people/change-teams.ts');
const DOLLARS = at('src/domain/money/engine/decide-dollars.ts');
const CONVERT = at('src/domain/calls/find-conversion.ts');
const RANGE = at('src/domain/money/conversions.ts');
const TERMS = at('src/domain/money/queries/entries.ts');
const CANDIDATE = at('src/domain/routing/queries/candidate-facts.ts');

/** A conversion of a buyer, by the fields of the buyer or of an entry of its list. */
const conversion = (prefix: string, nameInCode: (field: string) => string | undefined): Effects => {
  const locate = ({ file }: CodeLocation, field: string) => at(file, nameInCode(field));
  const fields = (names: string, location: CodeLocation) =>
    names.split(' ').map((field) => [prefix + field, locate(location, field)] as const);
  return Object.fromEntries([
    ...fields('revenue duplicate_timeframe name attribution_token_values', DOLLARS),
    ...fields('duration token_values', CONVERT),
    ...fields('revenue_min revenue_max revenue_increment', RANGE),
  ]);
};
const CONVERSIONS = 'buyer_conversions_schedule';
const ATTRIBUTES = `${CONVERSIONS}.buyer_conversions_attributes`;

export const BUYERS: Effects = {
  name: 'label',
  user_buyer_id: 'label',
  email: 'label',
  number: at('src/domain/routing/engine/progress.ts'),
  ...all('copy_another_buyer copy_buyer_id', at('src/domain/buyers/copy-buyer.ts')),
  buyer_type: at('src/domain/routing/engine/bids.ts'),
  timeout_seconds: at('src/domain/routing/engine/progress.ts'),
  dtmf_tones: at('src/domain/telephony/twiml.ts'),
  sip_headers: at('src/domain/calls/outcome.ts'),
  record_calls: at('src/domain/telephony/twiml.ts'),
  press_one_to_accept: at('src/domain/routing/engine/progress.ts'),
  ping_timeout_seconds: at('src/domain/routing/queries/bids.ts'),
  ...all('bid_request bid_response', at('src/domain/routing/queries/bids.ts')),
  ...all(
    'bid_request.url bid_request.method bid_request.headers bid_request.body',
    at('src/platform/egress/request-template.ts'),
  ),
  ...all(
    'bid_response.accept bid_response.bid bid_response.number bid_response.duration',
    at('src/domain/routing/read-bid.ts'),
  ),
  'bid_response.expires_in': at('src/domain/routing/read-bid.ts'),
  reset_bid_secret: at('src/domain/buyers/buyers.ts'),
  time_zone: CANDIDATE,
  paused: at('src/domain/routing/engine/eligibility.ts'),
  record_token_filter_list: at('src/domain/routing/engine/eligibility.ts'),
  ...all('states area_codes zip_list_id', CANDIDATE),
  record_token_additional_list: at(
    'src/domain/calls/queries/call-state.ts',
    'record_token_additional_data',
  ),
  route_by_type: at('src/domain/routing/engine/candidate.ts'),
  tier: at('src/domain/routing/engine/candidate.ts'),
  weight: at('src/domain/routing/engine/draw.ts'),
  ...all('epc_timeframe epc_assumed_amount epc_assumed_calls_count', CANDIDATE),
  display_caller_id_type: at('src/domain/calls/outcome.ts'),
  display_service_number_id: at('src/domain/calls/outcome.ts'),
  buyer_suppression_ids: at('src/domain/routing/engine/eligibility.ts'),
  buyer_fleet_id: at('src/domain/routing/queries/caller-facts.ts'),
  concurrency_cap_limit: CAPS,
  reset_total_caps: at('src/domain/caps/cap-limits.ts', 'reset_totals'),
  ...limits(CAPS, 'total monthly daily'),
  prepaid: TERMS,
  credit_limit: at('prisma/sql/caps/cap_counters.sql'),
  balance_low_limit: at('prisma/sql/money/record_low_balances.sql'),
  business_hours_schedule: at('src/domain/caps/hourly-limits.ts', 'schedule'),
  ...limits(CAPS, 'hourly', 'business_hours_schedule.'),
  'business_hours_schedule.schedule': at('src/domain/caps/hourly-limits.ts'),
  'business_hours_schedule.schedule.day': HOURS,
  'business_hours_schedule.schedule.times': HOURS,
  [CONVERSIONS]: RANGE,
  [ATTRIBUTES]: RANGE,
  [`${ATTRIBUTES}.conversion_type`]: CONVERT,
  ...conversion(`${ATTRIBUTES}.`, () => undefined),
  [`${CONVERSIONS}.schedule`]: RANGE,
  [`${CONVERSIONS}.schedule.day`]: HOURS,
  [`${CONVERSIONS}.schedule.times`]: HOURS,
  ...conversion('current_conversion_', (field) => field),
  ...all('generate_team team_users_emails team_offer_ids', TEAMS),
};

export const BUYER_GROUPS: Effects = {
  name: 'label',
  paused: at('src/domain/routing/engine/eligibility.ts'),
  reset_total_caps: at('src/domain/caps/cap-limits.ts', 'reset_totals'),
  dial_buyers_type: at('src/domain/routing/engine/candidate.ts'),
  tier: at('src/domain/routing/engine/candidate.ts'),
  weight: at('src/domain/routing/engine/draw.ts'),
  time_zone: CANDIDATE,
  concurrency_cap: at('prisma/sql/caps/cap_counters.sql', 'concurrency_cap_limit'),
  ...limits(CAPS, 'total monthly daily hourly'),
  ...BUYER_LISTS,
  ...all('generate_team team_users_emails team_offer_ids team_ids', TEAMS),
  ...all('grant_team_offer_id revoke_team_offer_id', TEAMS),
};

const SOURCE_CAPS = at('prisma/sql/caps/cap_counters.sql');
const SOURCE_ROUTING = at('src/domain/routing/engine/source.ts');
const PAYOUT = at('src/domain/money/engine/payout.ts');

export const TRAFFIC_SOURCES: Effects = {
  ...all('name user_traffic_source_id email first_name last_name company_name', 'label'),
  description: 'note',
  paused: at('src/domain/routing/queries/call-state.ts'),
  ...all('generate_team team_users_emails team_offer_ids team_ids', TEAMS),
  time_zone: at('src/domain/caps/queries/cap-limits.ts', 'zone'),
  reset_total_caps: at('src/domain/caps/cap-limits.ts', 'reset_totals'),
  concurrency_cap_limit: SOURCE_CAPS,
  ...limits(SOURCE_CAPS, 'total monthly daily'),
  ...limits(at('prisma/sql/caps/cap_counters.sql'), 'hourly'),
  blocked_buyer_ids: SOURCE_ROUTING,
  allowed_buyer_ids: SOURCE_ROUTING,
  payouts: at('src/domain/money/engine/payout.ts', 'source_payouts'),
  ...all('payouts.payout_type payouts.amount payouts.paid_for', PAYOUT),
  ...all('payouts.duration payouts.duplicate_timeframe', PAYOUT),
};

export const SUPPRESSION: Record<string, Effects> = {
  buyer_suppressions: {
    name: 'label',
    caller_id_column_name: at('src/domain/suppression/csv/layout.ts'),
    headers: at('src/domain/suppression/add-file.ts'),
    import_file: at('src/domain/suppression/add-file.ts', 'upload'),
    ...BUYER_LISTS,
    offer_ids: at('src/domain/suppression/lists.ts'),
    schedule_ids: at('src/domain/suppression/lists.ts'),
    caller_ids: at('src/domain/suppression/lists.ts'),
  },
  buyer_suppression_files: {
    name: 'label',
    buyer_suppression_id: at('src/domain/suppression/queries/import-run.ts'),
    apply_block_or_unblock: at('src/domain/suppression/queries/import-run.ts'),
    caller_id_column_name: at('src/domain/suppression/csv/layout.ts'),
    headers: at('src/domain/suppression/add-file.ts'),
    import_file: at('src/domain/suppression/add-file.ts', 'upload'),
  },
  contacts: { caller_ids: at('src/domain/leads/contacts.ts') },
};

export const OFFERS: Effects = {
  ...all('name user_offer_id description', 'label'),
  time_zone: at('src/domain/leads/queries/leads.ts'),
  paused: at('src/domain/outreach/steps.ts'),
  ...BUYER_LISTS,
  buyer_group_ids: at('src/domain/offers/offers.ts'),
  lead_token_powers: at('src/api/auth/queries/lead-tokens.ts'),
  ...all('reset_lead_token lead_token', at('src/domain/offers/lead-token.ts')),
  greeting_message: at('src/domain/telephony/next-step.ts'),
  abandoned_message: at('src/domain/calls/outcome.ts'),
  fallback_type: at('src/domain/calls/session.ts'),
  fallback_message: at('src/domain/calls/session.ts'),
  fallback_number: at('src/domain/calls/session.ts'),
  callback_behavior: at('src/domain/routing/route-facts.ts'),
  skip_duplicates: at('src/domain/routing/route-facts.ts'),
  spacing_seconds: at('prisma/sql/caps/reserve_caps.sql'),
  payouts: at('src/domain/money/engine/payout.ts'),
  ...all(
    'payouts.traffic_source_id payouts.payout_type payouts.amount payouts.paid_for',
    at('src/domain/money/engine/payout.ts'),
  ),
  ...all('payouts.duration payouts.duplicate_timeframe', at('src/domain/money/engine/payout.ts')),
  buyer_suppression_ids: at(
    'src/domain/routing/queries/caller-facts.ts',
    'buyer_suppression_offers',
  ),
};
