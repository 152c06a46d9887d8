import { BASE_PATH, contract, type Schema, type Schemas } from '../../platform/contract/contract';
import { notFound } from '../../platform/errors';
import type { Row } from '../../data/sql';
import type { Db } from '../../data/db';
import type { Handlers } from '../handlers';
import { Json } from '../reply/reply';
import { DISPLAY_NAMES } from '../../platform/time/zone-names';
import { formatOffset, IANA_NAMES } from '../../platform/time/zone';
import { LIST_TIME_ZONES } from './queries/time-zones';

/** Every closed list of the contract, by the name that `x-collection` gives it. */
const VALUES = new Map(
  Object.values(contract.document.components.schemas).flatMap((schema) => {
    const name = schema['x-collection'];
    return name ? [[name, listValues(schema)] as const] : [];
  }),
);

function listValues(schema: Schema): string[] {
  return (schema.enum ?? []).filter(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}

const words = (value: string) =>
  value.replace(/[_:.]/g, ' ').replace(/^./, (first) => first.toUpperCase());

/** The envelope of a collection, or with root=false the bare array. */
function collection<Root extends 'collection' | 'collections', Item>(
  root: Root,
  items: Item[],
  withRoot = true,
) {
  const rows = { [root]: items } as { [R in Root]: Item[] };
  const metadata = { root, total_count: items.length };
  const envelope = { status: 200, success: true, ...rows, metadata };
  return new Json<typeof envelope>(JSON.stringify(withRoot ? envelope : items));
}

export const collections = ({ clock }: { clock: () => Date }) =>
  ({
    listCollections: async ({ query }) => {
      const names = ['time_zone', ...VALUES.keys()].toSorted();
      return collection(
        'collections',
        names.map((name) => ({ name, path: `${BASE_PATH}/collections/${name}` })),
        query.root,
      );
    },

    listTimeZones: async ({ query, db }) =>
      collection('collection', await zonesAt(clock(), db), query.root),

    showCollection: async ({ params, query }) => {
      const values = VALUES.get(params.collection);
      if (!values) throw notFound();
      return collection(
        'collection',
        values.map((value) => ({ value, name: words(value) })),
        query.root,
      );
    },
  }) satisfies Partial<Handlers>;

const QUARTER_MS = 900_000;
let cached: { quarter: number; zones: Schemas['TimeZoneDetails'][] } | undefined;

type Offset = Row<'http.list_time_zones', { iana_name: string; dst: boolean }>;

/**
 * All zones by offset. The offsets come from the database, whose clock decides about caps and
 * hours: its zone tables can differ from those of Node.js for a zone whose law has just changed.
 * Offsets change on a quarter of an hour, and reading them is slow, so they are cached until the
 * next one.
 */
async function zonesAt(now: Date, db: Db): Promise<Schemas['TimeZoneDetails'][]> {
  const quarter = Math.floor(now.getTime() / QUARTER_MS);
  if (cached?.quarter === quarter) return cached.zones;
  const offsets = await db.sql(LIST_TIME_ZONES, {});
  const byName = new Map(offsets.map((offset) => [offset.iana_name, offset]));
  const namedZones = [
    ...Object.entries(DISPLAY_NAMES),
    ...IANA_NAMES.map((name) => [name, name] as const),
  ];
  const zones = namedZones
    .flatMap(([value, ianaName]) => {
      const offset = byName.get(ianaName);
      return offset ? [describe(value, offset)] : [];
    })
    .toSorted(
      (a, b) => a.utc_offset_seconds - b.utc_offset_seconds || (a.value < b.value ? -1 : 1),
    );
  cached = { quarter, zones };
  return zones;
}

function describe(value: string, { iana_name, seconds, dst }: Offset): Schemas['TimeZoneDetails'] {
  const utcOffset = formatOffset(seconds * 1000);
  return {
    value,
    name: `(GMT${utcOffset}) ${value}`,
    iana_name,
    utc_offset: utcOffset,
    utc_offset_seconds: seconds,
    dst,
  };
}
