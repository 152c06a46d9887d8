import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';
import { commonColumns, type Projection } from '../../data/projection/projection';
import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { list } from '../../api/records/list';
import { foldCase } from '../../platform/tokens/filter-values';
import { listHandlers, listListValues, type ListedCall } from './list-handlers';
import { findZipList } from './require-lists';
import { parseZip } from './zips';

// Value lists: values to which filters refer by in_list, such as the ZIP codes of a region. Lists
// of the kind zip_codes are also the resource zip_lists, which has no others. A list never changes
// its kind.

const buildUseCondition = (
  table: string,
  column: string,
  living = 'x.deleted_at IS NULL',
) => `EXISTS (
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
      ${buildUseCondition('buyers', 'record_token_filter_data')}
      OR ${buildUseCondition('buyer_conversions', 'token_values', 'true')}
      OR ${buildUseCondition('schedule_actions', 'token_filters')}
      OR ${buildUseCondition('outgoing_webhooks', 'token_filters')}
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
  const { create, ...shared } = listHandlers(projection, clock);
  return {
    listValueLists: ({ query, db }) => list(query, { db, now: clock(), projection, orders }),
    newValueList: (call) => shared.unsaved(call, { values_count: 0, kind: 'values' }),
    showValueList: shared.show,
    createValueList: ({ body: { kind = 'values', ...body }, ...call }) =>
      create({ ...call, body }, kind),
    updateValueList: shared.update,
    deleteValueList: shared.delete,
    addToValueList: shared.add,
    removeFromValueList: shared.remove,
    listListValues: (call) => listListValues(call),
  } satisfies Partial<Handlers>;
};

const zipProjection = { ...projection, singular: 'zip_list', root: 'zip_lists' } as const;
const filters = { kind: 't.kind = {kind}' };

export const zipLists = ({ clock }: Deps) => {
  const ofZips = listHandlers(zipProjection, clock);
  return {
    listZipLists: ({ query, db }) => {
      const options = { db, now: clock(), projection: zipProjection, orders, filters };
      const ofKind = { ...query, kind: 'zip_codes' };
      return list(ofKind, options);
    },
    newZipList: (call) => ofZips.unsaved(call, { values_count: 0, kind: 'zip_codes' }),
    showZipList: forZipLists(ofZips.show),
    createZipList: (call) => ofZips.create(call, 'zip_codes'),
    updateZipList: forZipLists(ofZips.update),
    deleteZipList: forZipLists(ofZips.delete),
    addToZipList: forZipLists(ofZips.add),
    removeFromZipList: forZipLists(ofZips.remove),
    listZipListValues: forZipLists((call: ListedCall) =>
      listListValues(call, (value) => parseZip(value) ?? foldCase(value)),
    ),
  } satisfies Partial<Handlers>;
};

interface ListCall {
  db: Db;
  params: { id: Reference };
}

/** A handler that finds no list of another kind. Kinds never change: this needs no lock. */
const forZipLists =
  <C extends ListCall, Reply>(handle: (call: C) => Promise<Reply>) =>
  async (call: C): Promise<Reply> => {
    await findZipList(call.db, call.params.id);
    return handle(call);
  };
