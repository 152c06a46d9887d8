import { sqlOn, tenantSql } from '../../db/sql';
import type { Db } from '../../db/tenant';
import { changeContacts as change, type ContactChange } from '../change-contacts';

/** For callers that still pass `query`: changeContacts of leads/change-contacts.ts takes `sql`. */
export const changeContacts = (
  { company_id, query }: Pick<Db, 'company_id' | 'query'>,
  verb: ContactChange,
  numbers: readonly number[],
  context: { now: Date; message: string; newUuid?: () => string },
): Promise<number> => {
  const sql = sqlOn({ query: async (bound) => ({ rows: await query(bound) }) });
  return change({ sql: tenantSql(sql, company_id) }, verb, numbers, context);
};
