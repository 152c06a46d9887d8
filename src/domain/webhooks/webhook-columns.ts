import type { Schemas } from '../../platform/contract/contract';
import {
  parseOrigin,
  findTemplateHeaderFault,
  findTemplateUrlFault,
} from '../../platform/egress/refused-templates';
import { HttpProblem, type FieldFaults, invalid } from '../../platform/errors';
import { isMailAddress } from '../../platform/mail/address';

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

const pickTimeouts = (triggerType: string): Timeouts =>
  triggerType === 'before_buyer_dialled' ? PRE_DIAL : USUAL;

/**
 * Merges the fields of a request with the stored columns, and with defaults. Throws a 422 problem
 * when the result is not valid.
 */
export function webhookColumns(
  before: WebhookColumns | undefined,
  fields: WebhookFields,
  allowNetworks: readonly string[],
): WebhookColumns {
  const triggerType = fields.trigger_type ?? before!.trigger_type;
  const timeouts = pickTimeouts(triggerType);
  // The timeout is reset to the default when the new kind of webhook has other limits.
  const hasOtherTimeouts = before !== undefined && pickTimeouts(before.trigger_type) !== timeouts;
  const timeoutBefore = hasOtherTimeouts ? undefined : before?.timeout_seconds;
  const url = fields.url ?? before!.url;
  const columns = {
    name: fields.name ?? before!.name,
    trigger_type: triggerType,
    url,
    origin: parseOrigin(url) ?? '',
    method: mergeValue(fields.method, before?.method, DEFAULTS.method),
    headers: mergeValue(fields.headers, before?.headers, {}),
    body: mergeText(fields.body, before?.body),
    timeout_seconds: mergeValue(fields.timeout_seconds, timeoutBefore, timeouts.usual),
    success_codes: mergeValue(fields.success_codes, before?.success_codes, []),
    retries: mergeValue(fields.retries, before?.retries, DEFAULTS.retries),
    paused: mergeValue(fields.paused, before?.paused, DEFAULTS.paused),
    token_filters: mergeValue(fields.record_token_filter_list, before?.token_filters, []),
    alert_email: mergeText(fields.alert_email, before?.alert_email),
    external_record_id: mergeText(fields.external_record_id, before?.external_record_id),
  };
  const problem = HttpProblem.fields(faultsIn(columns, timeouts, allowNetworks));
  if (problem) throw problem;
  return columns;
}

/** Undefined leaves a column unchanged; null restores the default. */
const mergeValue = <T>(value: T | null | undefined, before: T | undefined, fallback: T): T =>
  value === undefined ? (before ?? fallback) : (value ?? fallback);

/** Like `mergeValue` for texts: blank ones are null. */
function mergeText(
  value: string | null | undefined,
  before: string | null | undefined,
): string | null {
  const text = value === undefined ? before : value;
  return text?.trim() ? text : null;
}

function faultsIn(
  columns: WebhookColumns,
  { min, max }: Timeouts,
  allowNetworks: readonly string[],
): FieldFaults {
  const faults: FieldFaults = {};
  const url = findTemplateUrlFault(columns.url, allowNetworks);
  if (url) faults.url = invalid(url);
  const headers = findTemplateHeaderFault(columns.headers);
  if (headers) faults.headers = invalid(headers);
  if (columns.timeout_seconds < min || columns.timeout_seconds > max)
    faults.timeout_seconds = invalid(`must be from ${min} to ${max} for ${columns.trigger_type}`);
  const code = columns.success_codes.find(
    (candidate) => (candidate >= 300 && candidate < 400) || candidate === 410,
  );
  if (code !== undefined)
    faults.success_codes = invalid(
      `must not have ${code}: a redirect or 410 never means that the event was received`,
    );
  if (columns.alert_email !== null && !isMailAddress(columns.alert_email))
    faults.alert_email = invalid('must be one e-mail address');
  return faults;
}
