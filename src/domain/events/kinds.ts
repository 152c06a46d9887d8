import type { Schemas } from '../../platform/contract/contract';
import { buildAccessScope } from '../../data/access/scope';
import type { Db, AccessScope } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { isPermitted, type Caller } from '../../api/auth/caller';
import type { WindowProgress, Position } from './position';
import { FIND_EVENTS, FIND_VISIBLE_EVENTS, MAX_EVENTS } from './queries/events';

type Kind = Schemas['StreamedKind'];
type Source = keyof typeof FIND_EVENTS;

/** Sources of events in their order, with the permission to read their records. */
const KINDS: readonly { kind: Kind; source: Source; permission: Schemas['Scope'] }[] = [
  { kind: 'call', source: 'calls', permission: 'calls:read' },
  { kind: 'cap', source: 'buyers', permission: 'buyers:read' },
  { kind: 'cap', source: 'buyer_groups', permission: 'buyer_groups:read' },
  { kind: 'lead', source: 'lead_logs', permission: 'lead_logs:read' },
  {
    kind: 'import',
    source: 'buyer_suppression_files',
    permission: 'buyer_suppression_files:read',
  },
];

export interface ReadKind {
  /** The index in KINDS. */
  index: number;
  kind: Kind;
  source: Source;
  scope: AccessScope | undefined;
}

/** Selects the requested kinds that the caller may read. Throws 403 if there are none. */
export function selectKinds(
  caller: Caller,
  requestedKinds: readonly Kind[] | undefined,
): ReadKind[] {
  const matchingKinds = KINDS.filter(
    ({ kind }) => requestedKinds === undefined || requestedKinds.includes(kind),
  );
  const permitted = matchingKinds.filter(({ permission }) => isPermitted(caller, permission));
  if (permitted.length === 0) {
    const names = matchingKinds.map(({ permission }) => permission).join(', ');
    throw new HttpProblem('not_permitted', `These credentials have none of ${names}.`);
  }
  return permitted.map((entry) => ({
    index: KINDS.indexOf(entry),
    kind: entry.kind,
    source: entry.source,
    scope: buildAccessScope(caller, entry.permission),
  }));
}

export interface StreamedEvent {
  kind: Kind;
  data: string;
  part: WindowProgress;
}

interface Window {
  from: Position;
  to: bigint;
  /** The part of the window that was sent. */
  part: WindowProgress | undefined;
}

/** The events from a position up to a horizon, kind by kind, in the order of their ids. */
export async function* readEvents(
  db: Db,
  kinds: readonly ReadKind[],
  { from, to, part }: Window,
): AsyncGenerator<StreamedEvent> {
  for (const kind of kinds) {
    if (part && kind.index < part.kind) continue;
    let lastId = part?.kind === kind.index ? part.id : 0n;
    for (;;) {
      const rows = await readKind(db, kind, { from, to, lastId });
      for (const { id, data } of rows) {
        lastId = BigInt(id);
        yield { kind: kind.kind, data, part: { to, kind: kind.index, id: lastId } };
      }
      if (rows.length < MAX_EVENTS) break;
    }
  }
}

/** Rows of one kind after the id `lastId`. */
function readKind(
  db: Db,
  { source, scope }: ReadKind,
  { from, to, lastId }: { from: Position; to: bigint; lastId: bigint },
): Promise<{ id: string; data: string }[]> {
  const params = {
    company_id: db.company_id,
    from: String(from.horizon),
    to: String(to),
    after: String(source === 'calls' ? from.calls_after : from.leads_after),
    seen: String(lastId),
    ...scope,
  };
  const statements = scope ? FIND_VISIBLE_EVENTS : FIND_EVENTS;
  return db.query(statements[source].bind(params));
}
