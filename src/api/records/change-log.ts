import { facets, type Operation } from '../../platform/contract/contract';
import { withContext } from '../../data/tenant';
import { type Db, type LoggedRecord } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import type { LeadOwner } from '../auth/scheme';
import {
  listChangedColumns,
  isSame,
  listRequestedChanges,
  type Fields,
  type Versions,
} from './changed-columns';
import { recordChange, type Change } from './record-change';
import { Json } from '../reply/reply';
import { findStoredRecord } from './stored-fields';
import type { Write } from './changed-columns';

// Every write with credentials of the company, or by a lead token, passes through here: the record
// before it is compared with the record in the reply, both as the contract shows them, and the
// difference is logged in the transaction of the write.

type Handle = (db: Db) => Promise<unknown>;

/**
 * Runs a request in one statement, together with its entry in the log, if there is one. Returns
 * undefined, without any change, where the request needs a transaction.
 */
type HandleInStatement = (entry: AuditEntry | undefined) => Promise<unknown>;

/** An entry of the log that the database completes with the record and the columns that changed. */
export interface AuditEntry {
  valuesFor(type: string, columns: ReadonlySet<string>): Record<string, unknown>;
}

export interface ChangeLog {
  /**
   * Runs a request; a write in one transaction, or one statement, with its entry in the log.
   * Returns UNCHANGED for a PUT that changes nothing: then nothing was written.
   */
  runLogged(db: Db, write: Write, handle: Handle, direct?: HandleInStatement): Promise<unknown>;
}

/**
 * Writes with credentials of the company or a lead token are logged. Requests of carriers and
 * sellers have logs of their own.
 */
export const isLogged = ({ method, effect, credentials, unlogged }: Operation): boolean =>
  (method !== 'get' || effect) &&
  (credentials === 'account' || credentials === 'lead_token') &&
  !unlogged;

/**
 * A submission that only stores the lead is not logged: thousands come in a minute, and each is in
 * the history of its lead, with its address.
 */
function isPlainSubmission({ operation, body }: Write): boolean {
  if (operation.power !== 'submit' || !operation.body) return false;
  const { properties } = facets(operation.body);
  return Object.entries((body ?? {}) as Fields).every(
    ([name, value]) => !value || !properties[name]?.['x-lead-token-permission'],
  );
}

export function changeLog(clock: () => Date): ChangeLog {
  return {
    runLogged: async (db, write, handle, direct) => {
      const recordsChange = isLogged(write.operation) && !isPlainSubmission(write);
      const reply = await direct?.(recordsChange ? buildAuditEntry(write, clock()) : undefined);
      if (reply !== undefined) return reply;
      if (!recordsChange) return handle(db);
      const before: Versions[] = [];
      const after: Versions[] = [];
      const logged = withContext(db, {
        log: {
          before: (record) => void before.push(parseVersions(record)),
          after: (record) => void after.push(parseVersions(record)),
        },
      });
      const record = (tx: Db, reply: unknown) =>
        recordChange(tx, buildEntry(write, { before, after, reply, now: clock() }));
      if (write.operation.own_transactions) {
        // The operation calls other services and commits parts of its work: its entry comes last.
        const reply = await handle(logged);
        await logged.transaction((tx) => record(tx, reply));
        return reply;
      }
      const transaction = logged.transaction(async (tx) => {
        // After a deadlock the transaction runs a second time.
        before.length = after.length = 0;
        const reply = await handle(tx);
        if (changesNothing(write, { before, after })) throw new NothingChanged();
        await record(tx, reply);
        return reply;
      });
      return transaction.catch((error: unknown) => {
        if (error instanceof NothingChanged) return UNCHANGED;
        throw error;
      });
    },
  };
}

/** Result of a PUT that changes nothing and is rolled back; the record is shown instead. */
export const UNCHANGED = Symbol('unchanged');
class NothingChanged extends Error {}

/** A PUT changes nothing if it has the values of the record. */
function changesNothing(
  { operation, body }: Write,
  { before, after }: Pick<WriteResult, 'before' | 'after'>,
): boolean {
  const current = after.at(-1);
  const earlier = current && versionBefore(current, before);
  if (!earlier || !operation.body || !findStoredRecord(operation)) return false;
  return isSame(body, earlier.whole, current.whole, operation.body);
}

const versionBefore = ({ whole }: Versions, before: readonly Versions[]): Versions | undefined =>
  before.findLast(
    (version) => version.whole.uuid === whole.uuid && version.whole.type === whole.type,
  );

const buildAuditEntry = (write: Write, now: Date): AuditEntry => ({
  valuesFor: (type, columns) => {
    const isNew = write.operation.status === 201;
    const { uuid, created_at, ...sender } = buildSenderColumns(write, now);
    const entry = {
      ...sender,
      uuid,
      created_at: created_at.toISOString(),
      record_type: type,
      action: isNew ? 'create' : toAction(write.operation),
      // Without the braces: the statement puts it inside a JSON object.
      requested: JSON.stringify(listRequestedChanges(write, columns)).slice(1, -1) || null,
    };
    return Object.fromEntries(
      Object.entries(entry).map(([name, value]) => [`entry_${name}`, value]),
    );
  },
});

const parseVersions = ({ record, shown }: LoggedRecord): Versions => {
  const whole = JSON.parse(record) as Fields;
  return { whole, shown: shown === record ? whole : (JSON.parse(shown) as Fields) };
};

/** A lead that is removed by its token has left its schedule: it is not deleted. */
const toAction = ({ method, power }: Operation): Change['action'] =>
  (power ? undefined : ACTIONS[method]) ?? 'update';

interface WriteResult {
  /** The changed records before and after the write. */
  before: Versions[];
  after: Versions[];
  reply: unknown;
  now: Date;
}

const ACTIONS: Record<string, Change['action']> = {
  delete: 'delete',
  put: 'update',
  patch: 'update',
};

function buildEntry(write: Write, { before, after: all, reply, now }: WriteResult): Change {
  const { operation, caller } = write;
  const current = all.at(-1) ?? readReplyVersions(reply);
  const after = current?.whole;
  const earlier = current && versionBefore(current, before);
  const status = reply instanceof Json ? (reply.status ?? operation.status) : operation.status;
  const isNew = earlier === undefined && status === 201;
  const changesAs = (as: keyof Versions) =>
    current && (earlier || isNew)
      ? {
          ...listChangedColumns(earlier, current, as),
          ...listRequestedChanges(write, listColumnNames(current)),
        }
      : listRequestedChanges(write);
  return {
    ...buildSenderColumns(write, now),
    record_type: String(after?.type ?? toRecordType(operation)),
    record_id: typeof after?.id === 'number' ? after.id : null,
    action: isNew ? 'create' : toAction(operation),
    changes: changesAs('whole'),
    changes_shown: caller.teams ? changesAs('shown') : null,
  };
}

const listColumnNames = ({ whole }: Versions): ReadonlySet<string> => new Set(Object.keys(whole));

function buildSenderColumns(write: Write, now: Date) {
  const { operation, caller, request_id, client_request_id, ip } = write;
  return {
    uuid: uuidv7(now.getTime()),
    created_at: now,
    operation: operation.id,
    user_id: caller.user_id,
    user_email: caller.user_email,
    access_token_id: caller.access_token_id === 0n ? null : caller.access_token_id,
    credentials: caller.access_token_id === 0n ? tokenName(write.owner) : caller.name,
    request_id,
    client_request_id,
    ip,
  };
}

/** The log names the owner of a lead token, never the token: it works like a key. */
const tokenName = (owner: LeadOwner | undefined): string =>
  owner?.schedule_id === null
    ? `Lead token of offer ${owner.offer_id}`
    : `Lead token of schedule ${owner?.schedule_id}`;

function readReplyRecord(reply: unknown): Fields | undefined {
  const envelope = (reply instanceof Json ? JSON.parse(reply.text) : reply) as
    { metadata?: { root?: string } } | undefined;
  const root = envelope?.metadata?.root;
  const record = root === undefined ? undefined : (envelope as Fields)[root];
  return typeof record === 'object' && record !== null && !Array.isArray(record)
    ? (record as Fields)
    : undefined;
}

function readReplyVersions(reply: unknown): Versions | undefined {
  const record = readReplyRecord(reply);
  return record && { whole: record, shown: record };
}

/** `/api/v1/buyer_groups/{id}` → BuyerGroup */
function toRecordType({ path }: Operation): string {
  const words = path.split('/')[3]!.replace(/ies$/, 'y').replace(/s$/, '').split('_');
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}
