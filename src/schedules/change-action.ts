import type { Schemas } from '../contract';
import { resolveReferences } from '../db/records';
import type { Db } from '../db/tenant';
import { requireValueLists } from '../value-lists/require-lists';
import { Prisma } from '../generated/prisma/client';
import { HttpProblem, type FieldFaults, fault, invalid } from '../errors';
import { refusedHeaders } from '../egress/refused-headers';
import { refusedUrl } from '../egress/refused-urls';
import { machineMessage } from '../phone/machine-message';

type Fields = Schemas['ScheduleActionFields'];
type ActionType = Schemas['ActionType'];
type Own = Exclude<
  keyof Fields,
  | 'schedule_id'
  | 'action_type'
  | 'name'
  | 'end_of_schedule'
  | 'position'
  | 'token_filter_list'
  | 'external_record_id'
  | 'serializer'
>;

/** Required and optional fields of each kind of action. */
const KINDS: Record<ActionType, { needs: Own[]; takes: Own[] }> = {
  dial: {
    needs: [],
    takes: [
      'connect_to',
      'timeout_seconds',
      'only_when_buyer_available',
      'machine_action',
      'machine_message',
    ],
  },
  sms: { needs: ['body'], takes: [] },
  email: { needs: ['subject', 'body'], takes: ['html', 'from_email'] },
  wait: { needs: [], takes: ['wait_amount', 'wait_unit', 'wait_until'] },
  webhook: { needs: ['url'], takes: ['method', 'headers', 'body'] },
  exit: { needs: [], takes: [] },
  opt_out: { needs: [], takes: [] },
  block: { needs: [], takes: [] },
  restart: { needs: [], takes: [] },
  move_to_schedule: { needs: ['to_schedule_id'], takes: [] },
};
const OWN = [...new Set(Object.values(KINDS).flatMap(({ needs, takes }) => [...needs, ...takes]))];
/** Ten segments. */
const MAX_SMS_LENGTH = 1_600;

type Row = Omit<Fields, 'serializer' | 'token_filter_list'> & { token_filters?: string[] };

/** The columns of a new action, or of an action that changes from `before`. Throws 422. */
export async function actionRow(
  db: Db,
  before: Row | undefined,
  fields: Fields,
  allow_networks: readonly string[],
): Promise<Prisma.ScheduleActionUncheckedCreateInput> {
  const { serializer, token_filter_list, ...rest } = fields;
  void serializer;
  const sent: Row = {
    ...rest,
    ...(token_filter_list !== undefined && { token_filters: token_filter_list ?? [] }),
  };
  const kind_changed =
    before !== undefined &&
    sent.action_type !== undefined &&
    sent.action_type !== before.action_type;
  // Fields of the earlier kind are dropped.
  const row: Row = { ...(kind_changed ? without(before, allowed(sent)) : before), ...sent };
  requireKind(row, allow_networks);
  await requireValueLists(db, token_filter_list, 'token_filter_list');
  const dial = row.action_type === 'dial' ? dialColumns(row, sent) : NO_DIAL;
  // The lock gives parallel actions without a position different ones.
  const schedule_id = await reference(db, row.schedule_id!, 'schedule_id', 'UPDATE');
  const to_schedule_id = row.to_schedule_id
    ? await reference(db, row.to_schedule_id, 'to_schedule_id', 'SHARE')
    : null;
  const own = Object.fromEntries(OWN.map((name) => [name, row[name] ?? null]));
  return {
    ...own,
    company_id: db.company_id,
    schedule_id,
    to_schedule_id,
    action_type: row.action_type!,
    name: row.name ?? null,
    external_record_id: row.external_record_id ?? null,
    end_of_schedule: row.end_of_schedule ?? false,
    position:
      row.position ?? (await lastPosition(db, schedule_id, row.end_of_schedule ?? false)) + 1,
    token_filters: row.token_filters ?? [],
    headers: row.headers ?? Prisma.DbNull,
    ...dial,
    method: row.action_type === 'webhook' ? (row.method ?? 'post') : null,
    html: row.action_type === 'email' ? (row.html ?? false) : null,
  };
}

const NO_DIAL = {
  timeout_seconds: null,
  only_when_buyer_available: null,
  machine_action: null,
  machine_message: null,
};

/** Throws 422 for a field that was sent and would have no effect. */
function dialColumns(row: Row, sent: Row) {
  const is_routed = !row.connect_to;
  if (!is_routed && typeof sent.only_when_buyer_available === 'boolean')
    throw HttpProblem.field(
      'only_when_buyer_available',
      'not_applicable',
      'is only for a dial without connect_to, whose calls go to the buyers of the offer',
    );
  const machine_action = row.machine_action ?? (is_routed ? 'hang_up' : 'connect');
  return {
    timeout_seconds: row.timeout_seconds ?? 30,
    only_when_buyer_available: is_routed ? (row.only_when_buyer_available ?? true) : null,
    machine_action,
    machine_message: machineMessage(machine_action, {
      sent: sent.machine_message,
      stored: row.machine_message,
    }),
  };
}

/** Removes the fields of an action's kind, except `except`. */
const without = (row: Row, except: readonly Own[]): Row =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([name]) => except.includes(name as Own) || !OWN.includes(name as Own),
    ),
  );

const allowed = ({ action_type }: Row): Own[] => [
  ...KINDS[action_type!].needs,
  ...KINDS[action_type!].takes,
];

function requireKind(row: Row, allow_networks: readonly string[]): void {
  const faults: FieldFaults = Object.create(null);
  const kind = row.action_type!;
  const given = (name: Own) => row[name] !== undefined && row[name] !== null && row[name] !== '';
  for (const name of KINDS[kind].needs)
    if (!given(name))
      faults[name] = [fault('missing_field', `must be given for an action of type ${kind}`)];
  for (const name of OWN)
    if (given(name) && !allowed(row).includes(name))
      faults[name] = [fault('not_applicable', `is not a field of an action of type ${kind}`)];
  if (kind === 'restart' && row.end_of_schedule)
    faults.end_of_schedule = invalid(
      'must be false for restart: a lead that has left the schedule does not restart it',
    );
  if (kind === 'wait') requireWait(row, faults);
  if (kind === 'sms' && (row.body?.length ?? 0) > MAX_SMS_LENGTH)
    faults.body = invalid(`must be at most ${MAX_SMS_LENGTH} characters in a text message`);
  if (kind === 'webhook' && row.url) {
    const url = refusedUrl(
      row.url.replace(/\{\{\s*\w+\s*\}\}|\[\w+\]\{[^}]*\}/g, 'x'),
      allow_networks,
    );
    if (url) faults.url = invalid(url);
    const headers = refusedHeaders(row.headers ?? {});
    if (headers) faults.headers = invalid(headers);
  }
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

function requireWait({ wait_amount, wait_unit, wait_until }: Row, faults: FieldFaults): void {
  const amount = wait_amount !== undefined && wait_amount !== null;
  if (amount && wait_until)
    faults.wait_until = [fault('conflicting_fields', 'cannot be combined with wait_amount')];
  else if (amount && !wait_unit)
    faults.wait_unit = [
      fault('missing_field', 'must be given with wait_amount: seconds, minutes, hours or days'),
    ];
  else if (!amount && !wait_until)
    faults.wait_amount = [
      fault('missing_field', 'must be given with its wait_unit, or wait_until instead'),
    ];
}

async function reference(
  db: Db,
  name: string | number,
  field: string,
  lock: 'SHARE' | 'UPDATE',
): Promise<bigint> {
  return (await resolveReferences(db, 'schedules', [name], { field, lock }))[0]!;
}

/** The schedule must be locked. */
async function lastPosition(
  db: Db,
  schedule_id: bigint,
  end_of_schedule: boolean,
): Promise<number> {
  const where = { schedule_id, end_of_schedule, deleted_at: null };
  return (
    (await db.prisma.scheduleAction.aggregate({ where, _max: { position: true } }))._max.position ??
    0
  );
}
