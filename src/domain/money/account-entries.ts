import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { noun } from '../../api/records/noun';
import { loadWriteReply } from '../../api/records/record';
import { findAccount, type Account } from './find-account';
import { INSERT_ENTRY } from './queries/entries';

const accountEntry = noun({
  schema: 'AccountEntry',
  singular: 'account_entry',
  plural: 'account_entries',
  verbs: ['list', 'show'],
  appendOnly: true,
  search: ['note', 'external_record_id'],
  filters: { kind: 't.kind = {kind}' },
});
const { projection } = accountEntry;

export const accountEntries = (deps: Deps) =>
  ({
    ...accountEntry.handlers(deps),

    createAccountEntry: async ({ body, db, caller: { user_id } }) => {
      const now = deps.clock();
      const id = await db.transaction((tx) => createEntry(tx, body, { user_id, now }));
      return loadWriteReply({ db, now, projection }, id, { status: 201 });
    },
  }) satisfies Partial<Handlers>;

type Fields = Schemas['AccountEntryCreate'];

async function createEntry(
  db: Db,
  { buyer_id, traffic_source_id, kind, amount, note, external_record_id }: Fields,
  { user_id, now }: { user_id: bigint | null; now: Date },
): Promise<bigint> {
  const account = await findAccount(db, { buyer_id, traffic_source_id });
  requireValidAmount(account, kind, amount);
  const [row] = await db.sql(INSERT_ENTRY, {
    ...account,
    kind,
    amount,
    user_id,
    note: note ?? null,
    external_record_id: external_record_id ?? null,
    now,
  });
  return BigInt(row!.id);
}

/** Throws 422 for a kind that the account does not have, and for an amount of the wrong sign. */
function requireValidAmount({ buyer_id }: Account, kind: Fields['kind'], amount: number): void {
  if (kind === 'deposit' && buyer_id === null)
    throw HttpProblem.field('kind', 'invalid_value', 'must be payment or adjustment for a source');
  if (kind === 'payment' && buyer_id !== null)
    throw HttpProblem.field('kind', 'invalid_value', 'must be deposit or adjustment for a buyer');
  const rules = {
    deposit: { fits: amount > 0, message: 'must be above 0 for a deposit' },
    payment: { fits: amount < 0, message: 'must be below 0 for a payment: it leaves the account' },
    adjustment: { fits: amount !== 0, message: 'must not be 0' },
  };
  const { fits, message } = rules[kind];
  if (!fits) throw HttpProblem.field('amount', 'invalid_value', message);
}
