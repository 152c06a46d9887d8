import type { Schemas } from '../contract';
import { resolveReferences, type Table } from '../db/records';
import type { Db } from '../db/tenant';
import { isMailAddress } from '../mail/address';
import { HttpProblem, type FieldErrors } from '../errors';
import { refusedHeaders } from '../egress/refused-headers';
import { refusedUrl } from '../egress/refused-urls';
import { SIGNING_HEADERS } from '../egress/request-template';

type Fields = Omit<Schemas['OutgoingWebhookFields'], 'serializer'>;
export type OwnerType = Schemas['WebhookOwnerType'];
export type TriggerType = Schemas['WebhookTriggerType'];

/** The columns of a webhook that people write. */
export interface WebhookRow {
  name: string;
  owner_type: OwnerType;
  owner_id: bigint | null;
  trigger_type: TriggerType;
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
/** The caller waits for it. */
const VETO = { least: 1, most: 3 };
const USUAL = { least: 3, most: 29 };

/** Where the owners of webhooks are. The company needs no looking for. */
const OWNERS: Record<Exclude<OwnerType, 'Company'>, Table> = {
  Offer: 'offers',
  Buyer: 'buyers',
  BuyerGroup: 'buyer_groups',
  TrafficSource: 'traffic_sources',
  ScheduleAction: 'schedule_actions',
};

/** The columns of a new or changed webhook: what it was, what the request says, and what they must be together. Refuses with 422. */
export async function webhookRow(
  db: Db,
  before: WebhookRow | undefined,
  fields: Fields,
  allow_networks: readonly string[],
): Promise<WebhookRow> {
  const { owner_id, owner_type, ...sent } = fields;
  const trigger_type = sent.trigger_type ?? before!.trigger_type;
  const of_kind = trigger_type === 'before_buyer_dialled' ? VETO : USUAL;
  // A time that was only the default of the kind before goes with it.
  const is_kind_changed =
    before !== undefined &&
    (before.trigger_type === 'before_buyer_dialled') !== (trigger_type === 'before_buyer_dialled');
  const usual = trigger_type === 'before_buyer_dialled' ? VETO.most : DEFAULTS.timeout_seconds;
  const pick = <T>(value: T | null | undefined, known: T | undefined, fallback: T): T =>
    value === undefined ? (known ?? fallback) : (value ?? fallback);
  const url = sent.url ?? before!.url;
  const row = {
    name: sent.name ?? before!.name,
    trigger_type,
    url,
    origin: originOf(url) ?? '',
    method: pick(sent.method, before?.method, DEFAULTS.method),
    headers: pick(sent.headers, before?.headers, {}),
    body: blank(sent.body === undefined ? before?.body : sent.body),
    timeout_seconds: pick(
      sent.timeout_seconds,
      is_kind_changed ? undefined : before?.timeout_seconds,
      usual,
    ),
    success_codes: pick(sent.success_codes, before?.success_codes, []),
    retries: pick(sent.retries, before?.retries, DEFAULTS.retries),
    paused: pick(sent.paused, before?.paused, DEFAULTS.paused),
    token_filters: pick(sent.record_token_filter_list, before?.token_filters, []),
    alert_email: blank(sent.alert_email === undefined ? before?.alert_email : sent.alert_email),
    external_record_id: blank(
      sent.external_record_id === undefined ? before?.external_record_id : sent.external_record_id,
    ),
  };
  refuse(row, of_kind, allow_networks);
  return { ...row, ...(await ownerOf(db, before, { owner_id, owner_type })) };
}

const blank = (text: string | null | undefined): string | null => (text?.trim() ? text : null);

function refuse(
  row: Omit<WebhookRow, 'owner_type' | 'owner_id'>,
  { least, most }: typeof USUAL,
  allow_networks: readonly string[],
): void {
  const errors: FieldErrors = {};
  const url =
    refusedUrl(plainUrl(row.url, 'x'), allow_networks) ??
    (originOf(row.url) === undefined ? 'must name its host without tokens' : undefined);
  if (url) errors.url = [url];
  const signing = Object.keys(row.headers).find((name) => SIGNING_HEADERS.has(name.toLowerCase()));
  const headers = signing
    ? `must not have the header ${signing}: it is set by the service`
    : refusedHeaders(row.headers);
  if (headers) errors.headers = [headers];
  if (row.timeout_seconds < least || row.timeout_seconds > most)
    errors.timeout_seconds = [`must be from ${least} to ${most} for ${row.trigger_type}`];
  const odd = row.success_codes.find((code) => (code >= 300 && code < 400) || code === 410);
  if (odd !== undefined)
    errors.success_codes = [
      `must not have ${odd}: a redirect, or 410, never means that it has arrived`,
    ];
  if (row.alert_email !== null && !isMailAddress(row.alert_email))
    errors.alert_email = ['must be one e-mail address'];
  const refusal = HttpProblem.fields(errors);
  if (refusal) throw refusal;
}

const plainUrl = (url: string, value: string): string =>
  url.replace(/\{\{\s*\w+\s*\}\}|\[\w+\]\{[^}]*\}/g, value);

/** Scheme, host and port of a URL; undefined where a token stands in them, or it is none. */
function originOf(url: string): string | undefined {
  const [one, other] = ['x', 'y']
    .map((value) => plainUrl(url, value))
    .map((plain) => (URL.canParse(plain) ? new URL(plain).origin : undefined));
  return one === other ? one : undefined;
}

type Owner = Pick<WebhookRow, 'owner_type' | 'owner_id'>;

async function ownerOf(
  db: Db,
  before: Owner | undefined,
  sent: Pick<Fields, 'owner_id' | 'owner_type'>,
): Promise<Owner> {
  const owner_type =
    sent.owner_type === undefined
      ? (before?.owner_type ?? DEFAULTS.owner_type)
      : (sent.owner_type ?? DEFAULTS.owner_type);
  const kept = before?.owner_type === owner_type ? before.owner_id : null;
  if (owner_type === 'Company') {
    if (sent.owner_id !== undefined && sent.owner_id !== null)
      throw HttpProblem.field('owner_id', 'must be left out for the owner_type Company');
    return { owner_type, owner_id: null };
  }
  if (sent.owner_id === undefined && kept !== null) return { owner_type, owner_id: kept };
  if (sent.owner_id === undefined || sent.owner_id === null)
    throw HttpProblem.field('owner_id', `must be given for the owner_type ${owner_type}`);
  // Buyers count their webhooks: their rows are written.
  const lock = owner_type === 'Buyer' ? 'UPDATE' : 'SHARE';
  const [owner_id] = await resolveReferences(db, OWNERS[owner_type], [sent.owner_id], {
    field: 'owner_id',
    lock,
  });
  return { owner_type, owner_id: owner_id! };
}

/** Counts the webhooks of buyers among these owners anew, in the order of their ids. The webhook is locked before them. */
export async function countOfOwner(
  db: Db,
  owners: readonly { owner_type: string; owner_id: bigint | null }[],
): Promise<void> {
  const ids = owners.flatMap(({ owner_type, owner_id }) =>
    owner_type === 'Buyer' && owner_id !== null ? [String(owner_id)] : [],
  );
  if (ids.length === 0) return;
  await db.query({
    text: `SELECT id FROM buyers WHERE company_id = $1 AND id = ANY($2::bigint[]) ORDER BY id FOR UPDATE`,
    values: [db.company_id, ids],
  });
  await db.query({
    text: `UPDATE buyers b SET outgoing_webhooks_count = (SELECT count(*) FROM outgoing_webhooks w WHERE w.company_id = b.company_id AND w.owner_type = 'Buyer' AND w.owner_id = b.id AND w.deleted_at IS NULL)
      WHERE b.company_id = $1 AND b.id = ANY($2::bigint[]) RETURNING 1`,
    values: [db.company_id, ids],
  });
}
