import type { TenantClient } from './prisma-client';
import { recordRoutingChange, ROUTING_COLUMNS_OF_NUMBERS } from './routing-changes';
import type { TransactionStatements } from './db';

// The effects of a write on other tables are written by the statement that writes it, or at the end
// of its transaction. Prisma's writes are recorded here.

type Recording = Pick<TransactionStatements, 'beforeCommit'>;
type Model = Extract<keyof TenantClient, string>;

interface Write {
  operation: string;
  args: { data?: object };
}

/** Records the effects of a write of a model through Prisma. */
const RECORDS: Partial<Record<Model, (tx: Recording, write: Write) => void>> = {
  buyer: recordRoutingChange,
  buyerGroup: recordRoutingChange,
  buyerGroupMember: recordRoutingChange,
  buyerBusinessHours: recordRoutingChange,
  buyerConversion: recordRoutingChange,
  offerBuyer: recordRoutingChange,
  offerBuyerGroup: recordRoutingChange,
  outgoingWebhook: recordRoutingChange,
  number: (tx, { operation, args }) => {
    // A new number is displayed by no buyer yet.
    if (operation.startsWith('create')) return;
    const columns = Object.keys(args.data ?? {});
    const isUpdate = operation.startsWith('update');
    if (!isUpdate || columns.some((name) => ROUTING_COLUMNS_OF_NUMBERS.has(name)))
      recordRoutingChange(tx);
  },
  agent: (_, { operation, args }) => {
    const columns = Object.keys(args.data ?? {});
    const isRecorded =
      operation === 'create' ||
      (operation === 'update' && !columns.some((name) => COLUMNS_OF_AGENT_EVENTS.has(name)));
    if (!isRecorded)
      throw new Error('what agents do is written by the statements of src/domain/agents/queries/');
  },
};

/** Written together with their events, in src/domain/agents/queries/statuses.ts. */
const COLUMNS_OF_AGENT_EVENTS: ReadonlySet<string> = new Set(['agent_status_id', 'deleted_at']);

const WRITES = /^(?:create|update|upsert|delete)/;

type Delegate = Record<string, (args: Write['args']) => unknown>;

/** Prisma's client, whose writes are recorded in the transaction `tx`. */
export const recordWrites = (client: TenantClient, tx: Recording): TenantClient =>
  new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      const record = RECORDS[name as Model];
      return record ? recordDelegateWrites(value as Delegate, (write) => record(tx, write)) : value;
    },
  });

const recordDelegateWrites = (delegate: Delegate, record: (write: Write) => void): Delegate =>
  new Proxy(delegate, {
    get(target, operation) {
      const run = Reflect.get(target, operation);
      if (typeof operation !== 'string' || !WRITES.test(operation)) return run;
      return (args: Write['args']) => {
        record({ operation, args });
        return run.call(target, args);
      };
    },
  });
