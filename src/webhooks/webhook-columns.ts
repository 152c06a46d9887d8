import type { Schemas } from '../contract';
import { originOf, refusedTemplateHeaders, refusedTemplateUrl } from '../egress/refused-templates';
import { HttpProblem, type FieldFaults, invalid } from '../errors';
import { isMailAddress } from '../mail/address';

export type WebhookFields = Omit<Schemas['OutgoingWebhookFields'], 'serializer'>;

/** The columns of a webhook that customers write, without its owner. */
export interface WebhookColumns {
  name: string;
  trigger_type: Schemas['WebhookTriggerType'];
  url: string;
  origin: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  timeout_seconds: number;
  success_codes: number[];
  retries: number;
  paused: boolean;
  token_filters: string[];
  alert_email: string | null;
  external_record_id: string | null;
}

export const DEFAULTS = {
  owner_type: 'Company',
  method: 'post',
  timeout_seconds: 15,
  retries: 9,
  paused: false,
} as const;

interface Timeouts {
  min: number;
  max: number;
  usual: number;
}
/** The caller waits for a pre-dial webhook. */
const PRE_DIAL: Timeouts = { min: 1, max: 3, usual: 3 };
const USUAL: Timeouts = { min: 3, max: 29, usual: DEFAULTS.timeout_seconds };

const timeoutsOf = (trigger_type: string): Timeouts =>
  trigger_type === 'before_buyer_dialled' ? PRE_DIAL : USUAL;

/**
 * Merges the fields of a request with the stored columns, and with defaults. Throws a 422 problem
 * when the result is not valid.
 */
export function webhookColumns(
  before: WebhookColumns | undefined,
  fields: WebhookFields,
  allow_networks: readonly string[],
): WebhookColumns {
  const trigger_type = fields.trigger_type ?? before!.trigger_type;
  const timeouts = timeoutsOf(trigger_type);
  // The timeout is reset to the default when the new kind of webhook has other limits.
  const has_other_timeouts = before !== undefined && timeoutsOf(before.trigger_type) !== timeouts;
  const timeout_before = has_other_timeouts ? undefined : before?.timeout_seconds;
  const url = fields.url ?? before!.url;
  const columns = {
    name: fields.name ?? before!.name,
    trigger_type,
    url,
    origin: originOf(url) ?? '',
    method: merged(fields.method, before?.method, DEFAULTS.method),
    headers: merged(fields.headers, before?.headers, {}),
    body: mergedText(fields.body, before?.body),
    timeout_seconds: merged(fields.timeout_seconds, timeout_before, timeouts.usual),
    success_codes: merged(fields.success_codes, before?.success_codes, []),
    retries: merged(fields.retries, before?.retries, DEFAULTS.retries),
    paused: merged(fields.paused, before?.paused, DEFAULTS.paused),
    token_filters: merged(fields.record_token_filter_list, before?.token_filters, []),
    alert_email: mergedText(fields.alert_email, before?.alert_email),
    external_record_id: mergedText(fields.external_record_id, before?.external_record_id),
  };
  const problem = HttpProblem.fields(faultsIn(columns, timeouts, allow_networks));
  if (problem) throw problem;
  return columns;
}

/** Undefined leaves a column unchanged; null restores the default. */
const merged = <T>(sent: T | null | undefined, before: T | undefined, fallback: T): T =>
  sent === undefined ? (before ?? fallback) : (sent ?? fallback);

/** Like `mergeValue` for texts: blank ones are null. */
function mergedText(
  sent: string | null | undefined,
  before: string | null | undefined,
): string | null {
  const text = sent === undefined ? before : sent;
  return text?.trim() ? text : null;
}

function faultsIn(
  columns: WebhookColumns,
  { min, max }: Timeouts,
  allow_networks: readonly string[],
): FieldFaults {
  const faults: FieldFaults = {};
  const url = refusedTemplateUrl(columns.url, allow_networks);
  if (url) faults.url = invalid(url);
  const headers = refusedTemplateHeaders(columns.headers);
  if (headers) faults.headers = invalid(headers);
  if (columns.timeout_seconds < min || columns.timeout_seconds > max)
    faults.timeout_seconds = invalid(`must be from ${min} to ${max} for ${columns.trigger_type}`);
  const code = columns.success_codes.find((each) => (each >= 300 && each < 400) || each === 410);
  if (code !== undefined)
    faults.success_codes = invalid(
      `must not have ${code}: a redirect or 410 never means that the event was received`,
    );
  if (columns.alert_email !== null && !isMailAddress(columns.alert_email))
    faults.alert_email = invalid('must be one e-mail address');
  return faults;
}
