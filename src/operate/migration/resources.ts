import { BASE_PATH, contract, facets, type Operation } from '../../platform/contract/contract';
import { recordColumns } from './record-columns';
import type { SourceRecord } from './reader';

// The parts of an account's setup that are moved, and how a record of the other service becomes one
// that is created.

/** Parents before children: a record comes after those that it names. */
export const RESOURCES = [
  'value_lists',
  'buyer_fleets',
  'buyers',
  'buyer_groups',
  'buyer_suppressions',
  'traffic_sources',
  'offers',
  'schedules',
  'schedule_actions',
  'access_control_lists',
  'users',
  'call_centers',
  'agent_statuses',
  'agents',
  'dispositions',
  'inbound_webhooks',
  'outgoing_webhooks',
] as const;
export type Resource = (typeof RESOURCES)[number];

/** Remarks of the report about resources as a whole. */
export const REMARKS: Record<string, string> = {
  phone_numbers: 'calls arrive when the carrier sends them to /api/v1/telephony',
  inbound_webhooks: 'have new tokens: PUT reset_auth_token shows one',
  outgoing_webhooks: 'have new secrets, which POST rotate_secret shows, and are paused',
  buyer_suppression_files: 'not moved: their numbers are in the lists',
  text_messages: 'not moved',
  emails: 'not moved',
  agent_messages: 'not moved',
  webhook_manual_fires: 'not moved',
  change_logs: 'not moved',
  access_tokens: 'not moved: they cannot be read. Make new ones',
};

/** Members that a record has in addition to its columns, and how they are read and added. */
export interface Members {
  path: string;
  root: string;
  add: string;
  field: string;
}
export const MEMBERS: Partial<Record<Resource, Members>> = {
  buyer_suppressions: {
    path: 'caller_ids',
    root: 'caller_ids',
    add: 'caller_block',
    field: 'caller_ids',
  },
  value_lists: { path: 'values', root: 'values', add: 'add_values', field: 'values' },
};

/** Columns whose values are sent under other names. */
const RENAMED_COLUMNS: Record<string, string> = {
  record_token_filter_data: 'record_token_filter_list',
  record_token_additional_data: 'record_token_additional_list',
};
const RENAMED_BY_RESOURCE: Partial<Record<Resource, Record<string, string>>> = {
  buyer_groups: { concurrency_cap_limit: 'concurrency_cap' },
};

function renameColumn(resource: Resource, column: string): string {
  const names = { ...RENAMED_COLUMNS, ...RENAMED_BY_RESOURCE[resource] };
  return Object.hasOwn(names, column) ? names[column]! : column;
}

/** Columns that follow from other resources, which have the other end of the relation. */
const DERIVED_COLUMNS: Partial<Record<Resource, ReadonlySet<string>>> = {
  // The user is named by id; no one has logged in here.
  agents: new Set(['user_email', 'agent_status_id']),
  // Users come later, and name their teams; a team that named them would invite them.
  access_control_lists: new Set(['users_emails']),
  // Teams come later; their own lists contain the records that they are granted.
  buyer_groups: new Set(['team_ids']),
  traffic_sources: new Set(['team_ids']),
  // Offers and schedules come later, and name their lists.
  buyer_suppressions: new Set(['offer_ids', 'schedule_ids']),
  // They repeat the current frame of buyer_conversions_schedule.
  buyers: new Set(
    Object.keys(facets(requireBody(findCreateOperation('buyers'))).properties).filter(
      // Lists come later, and name their buyers.
      (name) => name.startsWith('current_conversion_') || name === 'buyer_suppression_ids',
    ),
  ),
};

function findCreateOperation(resource: Resource): Operation {
  const path = `${BASE_PATH}/${resource}`;
  const createOperation = contract.operations.find(
    (operation) => operation.method === 'post' && operation.path === path,
  );
  if (!createOperation) throw new Error(`no operation creates ${resource}`);
  return createOperation;
}

function requireBody({ body, id }: Operation) {
  if (!body) throw new Error(`${id} has no body`);
  return body;
}

export interface MappedRecord {
  body: Record<string, unknown>;
  /** Fields of the other service that this one does not have. */
  unknown: string[];
}

/** The body that recreates a record here. */
export function mapRecord(
  resource: Resource,
  record: SourceRecord,
  { activate }: { activate: boolean },
): MappedRecord {
  const writable = facets(requireBody(findCreateOperation(resource))).properties;
  const columns = recordColumns(resource);
  const body: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [column, value] of Object.entries(record)) {
    const name = renameColumn(resource, column);
    if (DERIVED_COLUMNS[resource]?.has(column)) continue;
    if (Object.hasOwn(writable, name)) body[name] = value;
    else if (!columns.has(column)) unknown.push(column);
  }
  const quiet = { ...NEW_RECORD_FIELDS[resource], ...(activate ? {} : PAUSED_FIELDS[resource]) };
  return { body: { ...body, legacy_id: record.id, ...quiet }, unknown };
}

/** A migration must not contact anyone. */
const NEW_RECORD_FIELDS: Partial<Record<Resource, object>> = { users: { invite: false } };
const PAUSED_FIELDS: Partial<Record<Resource, object>> = {
  schedules: { paused: true },
  outgoing_webhooks: { paused: true },
};
