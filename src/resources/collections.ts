import { BASE_PATH, contract, type Schemas } from '../contract';
import { notFound } from '../db/records';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { DISPLAY_NAMES } from '../schedules/zone-names';
import { formatOffset, IANA_NAMES, offsetAt } from '../schedules/zone';

/** Every closed list of the contract, by the name its `x-collection` gives it. */
const VALUES = new Map(
  Object.values(contract.document.components.schemas).flatMap((schema) => {
    const name = schema['x-collection'];
    return name ? [[name, (schema.enum ?? []).filter((value): value is string => typeof value === 'string' && value !== '')] as const] : [];
  }),
);

const words = (value: string) => value.replace(/[_:.]/g, ' ').replace(/^./, (first) => first.toUpperCase());

/** The envelope of a collection, or with root=false the bare array. */
function collection<Root extends 'collection' | 'collections', Item>(root: Root, items: Item[], with_root = true) {
  if (!with_root) return items;
  const rows = { [root]: items } as { [R in Root]: Item[] };
  return { status: 200, success: true as const, ...rows, metadata: { root, total_count: items.length } };
}

/** Closed lists of values, for forms. */
export const collections = ({ clock }: Deps) =>
  ({
    listCollections: async ({ query }) => {
      const names = ['time_zone', ...VALUES.keys()].toSorted();
      return collection(
        'collections',
        names.map((name) => ({ name, path: `${BASE_PATH}/collections/${name}` })),
        query.root,
      );
    },

    listTimeZones: async ({ query }) => {
      return collection('collection', zonesAt(clock()), query.root);
    },

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
let kept: { quarter: number; zones: Schemas['TimeZone'][] } | undefined;

/** All zones by offset. Offsets change on the quarter of an hour; working out all of them takes long enough to be kept until then. */
function zonesAt(now: Date): Schemas['TimeZone'][] {
  const quarter = Math.floor(now.getTime() / QUARTER_MS);
  if (kept?.quarter !== quarter) {
    const named = [...Object.entries(DISPLAY_NAMES), ...IANA_NAMES.map((name) => [name, name] as const)];
    const zones = named.map(([value, iana_name]) => describe(value, iana_name, now));
    kept = { quarter, zones: zones.toSorted((a, b) => a.utc_offset_seconds - b.utc_offset_seconds || (a.value < b.value ? -1 : 1)) };
  }
  return kept.zones;
}

function describe(value: string, iana_name: string, now: Date): Schemas['TimeZone'] {
  const offset_ms = offsetAt(iana_name, now);
  const year = now.getUTCFullYear();
  const winter = Math.min(offsetAt(iana_name, new Date(Date.UTC(year, 0, 1))), offsetAt(iana_name, new Date(Date.UTC(year, 6, 1))));
  const utc_offset = formatOffset(offset_ms);
  return { value, name: `(GMT${utc_offset}) ${value}`, iana_name, utc_offset, utc_offset_seconds: offset_ms / 1000, dst: offset_ms > winter };
}
