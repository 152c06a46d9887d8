import { contract, type Schemas } from '../../platform/contract/contract';
import { HttpProblem } from '../../platform/errors';
import type { Caller } from '../../api/auth/caller';

export const RECORDS = [
  'lead',
  'call',
  'attempt',
  'buyer',
  'conversion',
  'agent',
  'account',
  'statement',
  'alert',
] as const;
export type RecordName = (typeof RECORDS)[number];

const READ_PERMISSIONS: Record<RecordName, string> = {
  lead: 'leads:read',
  call: 'calls:read',
  attempt: 'calls:read',
  buyer: 'buyers:read',
  conversion: 'calls:read',
  agent: 'agents:read',
  account: 'buyers:read',
  statement: 'statements:read',
  alert: 'alert_rules:read',
};

interface PromisedRecords {
  all: RecordName[];
  required: RecordName[];
}

/** By kind of event, the records that the contract promises. */
const PROMISED_RECORDS = new Map(
  Object.entries(contract.document.paths['/outgoing_webhooks']!.post!.callbacks!).map(
    ([kind, callback]): [string, PromisedRecords] => {
      const { schema } = Object.values(callback)[0]!.post.requestBody.content['application/json']!;
      const { properties = {}, required = [] } = contract.resolve(schema).properties!.data!;
      return [
        kind,
        { all: Object.keys(properties) as RecordName[], required: required as RecordName[] },
      ];
    },
  ),
);

export const requiredRecords = (kind: string): readonly RecordName[] =>
  PROMISED_RECORDS.get(kind)?.required ?? [];

/**
 * Throws 422 for a webhook whose events the caller may not read. Limited callers get the parts of
 * an event that they may read; others all of it.
 */
export function requireReadable(
  { superuser, permissions, teams }: Caller,
  triggerType: Schemas['WebhookTriggerType'],
): void {
  if (superuser) return;
  const { all, required } = PROMISED_RECORDS.get(triggerType) ?? { all: [], required: [] };
  const needed = new Set((teams ? required : all).map((name) => READ_PERMISSIONS[name]));
  const lacked = [...needed].filter((permission) => !permissions.has(permission));
  if (lacked.length > 0)
    throw HttpProblem.field(
      'trigger_type',
      'beyond_your_rights',
      `needs ${lacked.join(', ')}, which these credentials lack: its events show such records`,
    );
}
