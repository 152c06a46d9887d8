import { BY_TIMES, type SortKey } from '../db/list-statements';
import { commonColumns, type Projection } from '../db/projection';
import type { Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { list } from '../http/list';
import { folded } from '../tokens/filter-values';
import { listHandlers, listListValues, type ListedCall } from './list-handlers';
import { findZipList } from './require-lists';
import { zipOf } from './zips';

// Value lists: values to which filters refer by in_list, such as the ZIP codes of a region. Lists
// of the kind zip_codes are also the resource zip_lists, which has no others. A list never changes
// its kind.

const users = (table: string, column: string, living = 'x.deleted_at IS NULL') => `EXISTS (
  SELECT FROM ${table} x
  WHERE x.company_id = t.company_id AND ${living}
    AND t.key = ANY(SELECT value_list_of(f) FROM unnest(x.${column}) f))`;

export const projection = {
  schema: 'ValueList',
  singular: 'value_list',
  plural: 'value_lists',
  fulltext: `lower(
    coalesce(t.name, '')
    || E'\\n' || coalesce(t.description, '')
    || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  columns: {
    ...commonColumns('value_lists'),
    type: `'ValueList'`,
    name: true,
    description: true,
    kind: true,
    values_count: true,
    in_use: `(
      ${users('buyers', 'record_token_filter_data')}
      OR ${users('buyer_conversions', 'token_values', 'true')}
      OR ${users('schedule_actions', 'token_filters')}
      OR ${users('outgoing_webhooks', 'token_filters')}
      OR EXISTS (
        SELECT FROM buyers x
        WHERE x.company_id = t.company_id AND x.zip_list_id = t.id AND x.deleted_at IS NULL
      )
      OR EXISTS (
        SELECT FROM schedules x
        WHERE x.company_id = t.company_id AND x.deleted_at IS NULL
          AND t.key = ANY(SELECT value_list_of(f #>> '{}')
            FROM jsonb_path_query(x.triggers, '$[*].token_filter_list[*]') f)
      )
    )`,
  },
} as const satisfies Projection<'ValueList', 'value_list', 'value_lists'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  ...BY_TIMES,
};

export const valueLists = ({ clock }: Deps) => {
  const { create, ...of_any } = listHandlers(projection, clock);
  return {
    listValueLists: ({ query, db }) => list(query, { db, now: clock(), projection, orders }),
    newValueList: (call) => of_any.unsaved(call, { values_count: 0, kind: 'values' }),
    showValueList: of_any.show,
    createValueList: ({ body: { kind = 'values', ...body }, ...call }) =>
      create({ ...call, body }, kind),
    updateValueList: of_any.update,
    deleteValueList: of_any.delete,
    addToValueList: of_any.add,
    removeFromValueList: of_any.remove,
    listListValues: (call) => listListValues(call),
  } satisfies Partial<Handlers>;
};

const zip_projection = { ...projection, singular: 'zip_list', root: 'zip_lists' } as const;
const filters = { kind: 't.kind = {kind}' };

export const zipLists = ({ clock }: Deps) => {
  const of_zips = listHandlers(zip_projection, clock);
  return {
    listZipLists: ({ query, db }) => {
      const options = { db, now: clock(), projection: zip_projection, orders, filters };
      const of_kind = { ...query, kind: 'zip_codes' };
      return list(of_kind, options);
    },
    newZipList: (call) => of_zips.unsaved(call, { values_count: 0, kind: 'zip_codes' }),
    showZipList: ofZips(of_zips.show),
    createZipList: (call) => of_zips.create(call, 'zip_codes'),
    updateZipList: ofZips(of_zips.update),
    deleteZipList: ofZips(of_zips.delete),
    addToZipList: ofZips(of_zips.add),
    removeFromZipList: ofZips(of_zips.remove),
    listZipListValues: ofZips((call: ListedCall) =>
      listListValues(call, (value) => zipOf(value) ?? folded(value)),
    ),
  } satisfies Partial<Handlers>;
};

interface OneCall {
  db: Db;
  params: { id: Reference };
}

/** A handler that finds no list of another kind. Kinds never change: this needs no lock. */
const ofZips =
  <C extends OneCall, Reply>(handle: (call: C) => Promise<Reply>) =>
  async (call: C): Promise<Reply> => {
    await findZipList(call.db, call.params.id);
    return handle(call);
  };
