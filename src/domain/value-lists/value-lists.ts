import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { noun } from '../../api/records/noun';
import { foldCase } from '../../platform/tokens/filter-values';
import { buildListHandlers, listListValues, type ListedCall } from './list-handlers';
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

const LISTS = {
  schema: 'ValueList',
  plural: 'value_lists',
  verbs: ['list', 'new', 'show', 'delete'],
  search: ['name', 'description', 'external_record_id'],
  computed: {
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
} as const;

const valueList = noun({ ...LISTS, singular: 'value_list' });
export const { projection } = valueList;

const zipList = noun({
  ...LISTS,
  singular: 'zip_list',
  root: 'zip_lists',
  names: {
    list: 'listZipLists',
    new: 'newZipList',
    show: 'showZipList',
    create: 'createZipList',
    update: 'updateZipList',
    delete: 'deleteZipList',
  },
  filters: { kind: 't.kind = {kind}' },
});

export const valueLists = (deps: Deps) => {
  const lists = buildListHandlers(valueList, deps);
  return {
    ...valueList.handlers(deps, {
      deletion: lists.deletion,
      unsaved: { values_count: 0, kind: 'values' },
    }),
    createValueList: ({ body: { kind = 'values', ...body }, ...call }) =>
      lists.create({ ...call, body }, kind),
    updateValueList: lists.update,
    addToValueList: lists.add,
    removeFromValueList: lists.remove,
    listListValues: (call) => listListValues(call),
  } satisfies Partial<Handlers>;
};

export const zipLists = (deps: Deps) => {
  const lists = buildListHandlers(zipList, deps);
  const handlers = zipList.handlers(deps, {
    deletion: lists.deletion,
    unsaved: { values_count: 0, kind: 'zip_codes' },
  });
  return {
    listZipLists: (call) => {
      const query = { ...call.query, kind: 'zip_codes' };
      return handlers.listZipLists({ ...call, query });
    },
    newZipList: handlers.newZipList,
    showZipList: forZipLists(handlers.showZipList),
    createZipList: (call) => lists.create(call, 'zip_codes'),
    updateZipList: forZipLists(lists.update),
    deleteZipList: forZipLists(handlers.deleteZipList),
    addToZipList: forZipLists(lists.add),
    removeFromZipList: forZipLists(lists.remove),
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
