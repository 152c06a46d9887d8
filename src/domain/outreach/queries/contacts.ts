import { sql, statement } from '../../../data/sql';

export const COUNT_CONTACTED = statement(
  'outreach.count_contacted',
  sql`
    UPDATE contacts k
    SET calls_count = k.calls_count + x.calls,
      sms_count = k.sms_count + x.sms,
      emails_count = k.emails_count + x.emails,
      last_contacted_at = {now}::timestamptz,
      updated_at = {now}::timestamptz
    FROM jsonb_to_recordset({contacts}::jsonb)
      AS x(company_id bigint, caller_number bigint, calls int, sms int, emails int)
    WHERE k.company_id = x.company_id AND k.caller_number = x.caller_number
  `,
  { prepared: true },
);
