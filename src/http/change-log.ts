import { contract, facets, type Operation } from '../contract';
import { recordChange, type Change, type ChangedColumns } from './change-log-entry';
import { withContext, type Db } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import type { Caller } from './auth/authenticator';
import { Json } from './reply';

// Every write of every resource that is made with credentials of the company passes here once: the record as it was is compared with the record in the
// answer, both as the contract shows them, and the difference is written in the transaction of the write.

/** A write that is about to be made. */
export interface Write {
  operation: Operation;
  caller: Caller;
  params: Record<string, unknown>;
  body: unknown;
  request_id: string;
  ip: string;
}

type Handle = (db: Db) => Promise<unknown>;

/** Writes down what requests change. */
export interface ChangeLog {
  /** Runs a request; a write in one transaction with its entry in the log. */
  logging(db: Db, write: Write, handle: Handle): Promise<unknown>;
}

/** Whether an operation changes what belongs to the company, for somebody who has credentials of it. What machines bring has logs of its own. */
export const isLogged = ({ method, credentials, unlogged }: Operation): boolean =>
  method !== 'get' && credentials === 'account' && !unlogged;

export function changeLog(clock: () => Date): ChangeLog {
  return {
    logging: (db, write, handle) => {
      if (!isLogged(write.operation)) return handle(db);
      const records = { before: [] as Fields[], after: [] as Fields[] };
      const note = (list: Fields[]) => (record: string) =>
        void list.push(JSON.parse(record) as Fields);
      const noting = withContext(db, {
        log: { before: note(records.before), after: note(records.after) },
      });
      if (write.operation.own_transactions)
        return separately(noting, { write, records, handle, clock });
      return noting.transaction(async (tx) => {
        // A transaction that runs again begins anew.
        records.before.length = records.after.length = 0;
        const reply = await handle(tx);
        await recordChange(tx, entryOf(write, { ...records, reply, now: clock() }));
        return reply;
      });
    },
  };
}

interface Separate {
  write: Write;
  records: { before: Fields[]; after: Fields[] };
  handle: Handle;
  clock: () => Date;
}

/** What asks others outside, and must write some things down whatever becomes of the rest, has transactions of its own. */
async function separately(db: Db, { write, records, handle, clock }: Separate): Promise<unknown> {
  const reply = await handle(db);
  await db.transaction((tx) =>
    recordChange(tx, entryOf(write, { ...records, reply, now: clock() })),
  );
  return reply;
}

type Fields = Record<string, unknown>;

interface Written {
  before: Fields[];
  after: Fields[];
  reply: unknown;
  now: Date;
}

const ACTIONS: Record<string, Change['action']> = {
  delete: 'delete',
  put: 'update',
  patch: 'update',
};

function entryOf(write: Write, { before, after: noted, reply, now }: Written): Change {
  const { operation, caller, request_id, ip } = write;
  const after = noted.at(-1) ?? recordIn(reply);
  const earlier =
    after && before.findLast(({ uuid, type }) => uuid === after.uuid && type === after.type);
  const status = reply instanceof Json ? (reply.status ?? operation.status) : operation.status;
  const is_new = earlier === undefined && status === 201;
  return {
    uuid: uuidv7(now.getTime()),
    created_at: now,
    record_type: String(after?.type ?? resourceOf(operation)),
    record_id: typeof after?.id === 'number' ? after.id : null,
    action: is_new ? 'create' : (ACTIONS[operation.method] ?? 'update'),
    operation: operation.id,
    changes:
      after && (earlier || is_new)
        ? { ...difference(earlier, after), ...asked(write, after) }
        : asked(write),
    user_id: caller.user_id,
    user_email: caller.user_email,
    access_token_id: caller.access_token_id,
    credentials: caller.name,
    request_id,
    ip,
  };
}

/** The record in an answer. */
function recordIn(reply: unknown): Fields | undefined {
  const answer = (reply instanceof Json ? JSON.parse(reply.text) : reply) as
    { metadata?: { root?: string } } | undefined;
  const root = answer?.metadata?.root;
  const record = root === undefined ? undefined : (answer as Fields)[root];
  return typeof record === 'object' && record !== null && !Array.isArray(record)
    ? (record as Fields)
    : undefined;
}

/** `/api/v1/buyer_groups/{id}` → BuyerGroup */
function resourceOf({ path }: Operation): string {
  const words = path.split('/')[3]!.replace(/ies$/, 'y').replace(/s$/, '').split('_');
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

/** What says no more than that, or what, the record is. */
const NAMES = new Set([
  'id',
  'legacy_id',
  'type',
  'uuid',
  'company_id',
  'created_at',
  'updated_at',
  'user_updated_at',
  'routes_show_path',
  'routes_edit_path',
  'context_menu_name',
]);
const HIDDEN = '[hidden]';

/** Columns that move by themselves and that are secret, by the `type` of records. */
const marked = new Map<string, { moving: Set<string>; secret: Set<string> }>();

function marksOf(type: string) {
  let marks = marked.get(type);
  if (!marks) {
    const schema = Object.values(contract.document.components.schemas).find(
      ({ properties }) => properties?.type?.const === type,
    );
    const having = (mark: 'x-moving' | 'x-secret') =>
      new Set(
        Object.entries(schema?.properties ?? {}).flatMap(([name, each]) =>
          each[mark] ? name : [],
        ),
      );
    marked.set(type, (marks = { moving: having('x-moving'), secret: having('x-secret') }));
  }
  return marks;
}

const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** The columns of a record that are not as they were; of a new one those that have a value. */
function difference(before: Fields | undefined, after: Fields): ChangedColumns {
  const { moving, secret } = marksOf(String(after.type));
  const changed = Object.entries(after).filter(([name, to]) => {
    if (NAMES.has(name) || moving.has(name)) return false;
    return before
      ? name in before && JSON.stringify(before[name]) !== JSON.stringify(to)
      : !isEmpty(to);
  });
  // A body beside a URL is what is sent there.
  const is_secret = (name: string) =>
    secret.has(name) || (name === 'body' && 'url' in after && after.url !== null);
  const shown = (name: string, value: unknown) =>
    is_secret(name) && value !== null && !isEmpty(value) ? HIDDEN : originOf(name, value);
  return Object.fromEntries(
    changed.map(([name, to]) => [
      name,
      { from: shown(name, before?.[name] ?? null), to: shown(name, to) },
    ]),
  );
}

/** What is behind the host of a URL is as often a key as not. */
const originOf = (name: string, value: unknown) =>
  /url$/.test(name) && typeof value === 'string' && URL.canParse(value)
    ? `${new URL(value).origin}/${HIDDEN}`
    : value;

/** Of a list of thousands the first, and how many there are. */
const SHOWN = 100;

/** What was asked for, where many records were changed or none is answered; else what the record, which is answered, has no column for. */
function asked({ body, params, operation }: Write, beside?: Fields): ChangedColumns {
  const schema = operation.body ?? operation.multipart;
  const declared = schema ? facets(schema).properties : {};
  // The record of the path is named by record_id.
  const { id, uuid, ...rest } = params;
  void [id, uuid];
  const fields = {
    ...rest,
    ...(typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Fields) : {}),
  };
  const shown = (name: string, value: unknown) => {
    if (declared[name]?.['x-secret'] || /token$|secret|password|private_key/.test(name))
      return HIDDEN;
    if (/url$/.test(name)) return originOf(name, value);
    return Array.isArray(value) && value.length > SHOWN
      ? [...value.slice(0, SHOWN), `and ${value.length - SHOWN} more`]
      : value;
  };
  return Object.fromEntries(
    Object.entries(fields)
      .filter(
        ([name, value]) =>
          name !== 'serializer' &&
          value !== undefined &&
          !(beside && (name in beside || !declared[name])),
      )
      .map(([name, value]) => [name, { from: null, to: shown(name, value) }]),
  );
}
