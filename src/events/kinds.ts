import type { Schemas } from '../contract';
import type { AccessScope } from '../db/access-scope';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { accessScopeOf, isPermitted, type Caller } from '../http/auth/caller';
import type { PartWay, Position } from './position';
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
  place: number;
  kind: Kind;
  source: Source;
  scope: AccessScope | undefined;
}

/** Selects the requested kinds that the caller may read. Throws 403 if there are none. */
export function kindsOf(caller: Caller, asked: readonly Kind[] | undefined): ReadKind[] {
  const wanted = KINDS.filter(({ kind }) => asked === undefined || asked.includes(kind));
  const permitted = wanted.filter(({ permission }) => isPermitted(caller, permission));
  if (permitted.length === 0) {
    const names = wanted.map(({ permission }) => permission).join(', ');
    throw new HttpProblem('not_permitted', `These credentials have none of ${names}.`);
  }
  return permitted.map((each) => ({
    place: KINDS.indexOf(each),
    kind: each.kind,
    source: each.source,
    scope: accessScopeOf(caller, each.permission),
  }));
}

export interface StreamedEvent {
  kind: Kind;
  data: string;
  part: PartWay;
}

interface Window {
  from: Position;
  to: bigint;
  /** The part of the window that was sent. */
  part: PartWay | undefined;
}

/** The events from a position up to a horizon, kind by kind, in the order of their ids. */
export async function* readEvents(
  db: Db,
  kinds: readonly ReadKind[],
  { from, to, part }: Window,
): AsyncGenerator<StreamedEvent> {
  for (const kind of kinds) {
    if (part && kind.place < part.kind) continue;
    let seen = part?.kind === kind.place ? part.id : 0n;
    for (;;) {
      const found = await readKind(db, kind, { from, to, seen });
      for (const { id, data } of found) {
        seen = BigInt(id);
        yield { kind: kind.kind, data, part: { to, kind: kind.place, id: seen } };
      }
      if (found.length < MAX_EVENTS) break;
    }
  }
}

/** Rows of one kind after the id `lastId`. */
function readKind(
  db: Db,
  { source, scope }: ReadKind,
  { from, to, seen }: { from: Position; to: bigint; seen: bigint },
): Promise<{ id: string; data: string }[]> {
  const params = {
    company_id: db.company_id,
    from: String(from.horizon),
    to: String(to),
    after: String(source === 'calls' ? from.calls_after : from.leads_after),
    seen: String(seen),
    ...scope,
  };
  const statements = scope ? FIND_VISIBLE_EVENTS : FIND_EVENTS;
  return db.query(statements[source].bind(params));
}
