import type { Schemas } from '../../platform/contract/contract';
import { resolveReferences } from '../../data/records';
import type { Db } from '../../data/db';
import { requireValueLists } from '../value-lists/require-lists';
import { Prisma } from '../../generated/prisma/client';
import { HttpProblem, type FieldFaults, fault, invalid } from '../../platform/errors';
import { findHeaderFault } from '../../platform/egress/refused-headers';
import { findUrlFault } from '../../platform/egress/refused-urls';
import { machineMessage } from '../../data/phone/machine-message';

type Fields = Schemas['ScheduleActionFields'];
type ActionType = Schemas['ActionType'];
type KindField = Exclude<
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
const KINDS: Record<ActionType, { needs: KindField[]; takes: KindField[] }> = {
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
const KIND_FIELDS = [
  ...new Set(Object.values(KINDS).flatMap(({ needs, takes }) => [...needs, ...takes])),
];
/** Ten segments. */
const MAX_SMS_LENGTH = 1_600;

type Row = Omit<Fields, 'serializer' | 'token_filter_list'> & { token_filters?: string[] };

/** The columns of a new action, or of an action that changes from `before`. Throws 422. */
export async function buildActionRow(
  db: Db,
  before: Row | undefined,
  fields: Fields,
  allowNetworks: readonly string[],
) {
  const { token_filter_list, ...rest } = fields;
  const input: Row = {
    ...rest,
    ...(token_filter_list !== undefined && { token_filters: token_filter_list ?? [] }),
  };
  const kindChanged =
    before !== undefined &&
    input.action_type !== undefined &&
    input.action_type !== before.action_type;
  // Fields of the earlier kind are dropped.
  const row: Row = {
    ...(kindChanged ? omitKindFields(before, listAllowedFields(input)) : before),
    ...input,
  };
  requireKind(row, allowNetworks);
  await requireValueLists(db, token_filter_list, 'token_filter_list');
  const dial = row.action_type === 'dial' ? buildDialColumns(row, input) : NO_DIAL;
  // The lock gives parallel actions without a position different ones.
  const scheduleId = await lockSchedule(db, row.schedule_id!, 'schedule_id', 'UPDATE');
  const toScheduleId = row.to_schedule_id
    ? await lockSchedule(db, row.to_schedule_id, 'to_schedule_id', 'SHARE')
    : null;
  const ownColumns = Object.fromEntries(KIND_FIELDS.map((name) => [name, row[name] ?? null]));
  return {
    ...ownColumns,
    schedule_id: scheduleId,
    to_schedule_id: toScheduleId,
    action_type: row.action_type!,
    name: row.name ?? null,
    external_record_id: row.external_record_id ?? null,
    end_of_schedule: row.end_of_schedule ?? false,
    position:
      row.position ?? (await findLastPosition(db, scheduleId, row.end_of_schedule ?? false)) + 1,
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
function buildDialColumns(row: Row, input: Row) {
  const isRouted = !row.connect_to;
  if (!isRouted && typeof input.only_when_buyer_available === 'boolean')
    throw HttpProblem.field(
      'only_when_buyer_available',
      'not_applicable',
      'is only for a dial without connect_to, whose calls go to the buyers of the offer',
    );
  const machineAction = row.machine_action ?? (isRouted ? 'hang_up' : 'connect');
  return {
    timeout_seconds: row.timeout_seconds ?? 30,
    only_when_buyer_available: isRouted ? (row.only_when_buyer_available ?? true) : null,
    machine_action: machineAction,
    machine_message: machineMessage(machineAction, {
      sentMessage: input.machine_message,
      storedMessage: row.machine_message,
    }),
  };
}

/** Removes the fields of an action's kind, except `except`. */
const omitKindFields = (row: Row, except: readonly KindField[]): Row =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([name]) => except.includes(name as KindField) || !KIND_FIELDS.includes(name as KindField),
    ),
  );

const listAllowedFields = ({ action_type }: Row): KindField[] => [
  ...KINDS[action_type!].needs,
  ...KINDS[action_type!].takes,
];

function requireKind(row: Row, allowNetworks: readonly string[]): void {
  const faults: FieldFaults = Object.create(null);
  const kind = row.action_type!;
  const isFilled = (name: KindField) =>
    row[name] !== undefined && row[name] !== null && row[name] !== '';
  for (const name of KINDS[kind].needs)
    if (!isFilled(name))
      faults[name] = [fault('missing_field', `must be given for an action of type ${kind}`)];
  for (const name of KIND_FIELDS)
    if (isFilled(name) && !listAllowedFields(row).includes(name))
      faults[name] = [fault('not_applicable', `is not a field of an action of type ${kind}`)];
  if (kind === 'restart' && row.end_of_schedule)
    faults.end_of_schedule = invalid(
      'must be false for restart: a lead that has left the schedule does not restart it',
    );
  if (kind === 'wait') requireWait(row, faults);
  if (kind === 'sms' && (row.body?.length ?? 0) > MAX_SMS_LENGTH)
    faults.body = invalid(`must be at most ${MAX_SMS_LENGTH} characters in a text message`);
  if (kind === 'webhook' && row.url) {
    const url = findUrlFault(
      row.url.replace(/\{\{\s*\w+\s*\}\}|\[\w+\]\{[^}]*\}/g, 'x'),
      allowNetworks,
    );
    if (url) faults.url = invalid(url);
    const headers = findHeaderFault(row.headers ?? {});
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

async function lockSchedule(
  db: Db,
  name: string | number,
  field: string,
  lock: 'SHARE' | 'UPDATE',
): Promise<bigint> {
  return (await resolveReferences(db, 'schedules', [name], { field, lock }))[0]!;
}

/** The schedule must be locked. */
async function findLastPosition(
  db: Db,
  scheduleId: bigint,
  endOfSchedule: boolean,
): Promise<number> {
  const where = { schedule_id: scheduleId, end_of_schedule: endOfSchedule, deleted_at: null };
  return (
    (await db.prisma.scheduleAction.aggregate({ where, _max: { position: true } }))._max.position ??
    0
  );
}
