import { pickLimits, setSourceLimits } from '../caps/cap-limits';
import type { Schemas } from '../../platform/contract/contract';
import { resolveReferences, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { ianaName } from '../../platform/time/zone';

type Fields = Schemas['TrafficSourceFields'];

const COLUMNS = [
  'user_traffic_source_id',
  'email',
  'description',
  'external_record_id',
  'first_name',
  'last_name',
  'company_name',
  'paused',
  'time_zone',
  'payouts',
] as const satisfies readonly (keyof Fields)[];

/** The columns among the fields, except the name. */
export async function resolveColumns(db: Db, fields: Fields) {
  const ownColumns = COLUMNS.flatMap((name) =>
    fields[name] === undefined ? [] : [[name, fields[name]]],
  );
  return {
    ...(Object.fromEntries(ownColumns) as Columns),
    ...(await resolveBuyers(db, 'blocked_buyer_ids', fields.blocked_buyer_ids)),
    ...(await resolveBuyers(db, 'allowed_buyer_ids', fields.allowed_buyer_ids)),
  };
}

/** Blank time zones and payouts have been replaced by the defaults. */
type Columns = Omit<Pick<Fields, (typeof COLUMNS)[number]>, 'time_zone' | 'payouts'> & {
  time_zone?: string;
  payouts?: Schemas['TrafficSourcePayout'][];
};

async function resolveBuyers<Name extends string>(
  db: Db,
  name: Name,
  buyers: Reference[] | null | undefined,
): Promise<Partial<Record<Name, bigint[]>>> {
  if (buyers === undefined) return {};
  const ids = await resolveReferences(db, 'buyers', buyers ?? [], { field: name });
  const unique = [...new Set(ids)].sort((a, b) => Number(a - b));
  return { [name]: unique } as Partial<Record<Name, bigint[]>>;
}

interface Caps {
  id: bigint;
  fields: Fields & { time_zone?: string | null };
  /** The time zone before the write. */
  time_zone: string;
  now: Date;
}

export async function saveCaps(db: Db, { id, fields, time_zone, now }: Caps): Promise<void> {
  const limits = pickLimits(fields);
  const isMoved = Boolean(fields.time_zone) && fields.time_zone !== time_zone;
  if (Object.keys(limits).length === 0 && !isMoved && !fields.reset_total_caps) return;
  await setSourceLimits(db, id, {
    limits,
    zone: ianaName(fields.time_zone ?? time_zone)!,
    is_moved: isMoved,
    reset_totals: fields.reset_total_caps,
    now,
  });
}
