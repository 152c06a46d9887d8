import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { HttpProblem, invalid, staleChecksum, type FieldFaults } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { computeChecksum, recordReply } from '../../api/records/record';
import { NotModified } from '../../api/reply/reply';
import { findHostFault } from './destinations';
import { LOCK_COMPANY, READ_COMPANY, UPDATE_COMPANY } from './queries/company';

// The settings of the company. There is one, so it has neither a list nor an id in its path. A
// change locks only the company.

const ROOT = { singular: 'company' } as const;

export const company = ({ clock, authenticator }: Deps) =>
  ({
    showCompany: async ({ db, if_none_match }) => {
      const record = await loadCompany(db);
      const checksum = computeChecksum(record);
      if (checksum === if_none_match) return new NotModified({ ETag: `"${checksum}"` });
      return recordReply(ROOT, record);
    },

    updateCompany: async ({ db, body, if_match }) => {
      requirePublicHosts(body.sip_hosts);
      const record = await db.transaction(async (tx) => {
        await tx.sql(LOCK_COMPANY, {});
        const before = await loadCompany(tx);
        tx.log?.before({ record: before, shown: before });
        if (if_match !== undefined && if_match !== '*' && if_match !== computeChecksum(before))
          throw staleChecksum();
        await tx.sql(UPDATE_COMPANY, { ...buildColumns(body), now: clock() });
        const after = await loadCompany(tx);
        tx.log?.after({ record: after, shown: after });
        return after;
      });
      db.afterCommit(authenticator.forgetPowers);
      // The name of the company is cached with the rights.
      db.afterCommit(authenticator.forgetRights);
      return recordReply(ROOT, record);
    },
  }) satisfies Partial<Handlers>;

const loadCompany = async ({ sql }: Db): Promise<string> =>
  (await sql(READ_COMPANY, {}))[0]!.record;

const buildColumns = (fields: Schemas['CompanyUpdate']) => ({
  fields: JSON.stringify(fields),
  contact_countries: toDistinct(fields.contact_countries),
  contact_prefixes: toDistinct(fields.contact_prefixes) ?? [],
  sip_hosts: toDistinct(fields.sip_hosts?.map((host) => host.toLowerCase())) ?? [],
  lead_token_powers: toDistinct(fields.lead_token_powers),
});

/** Throws 422 for hosts that are never allowed as destinations, even when they are listed. */
function requirePublicHosts(hosts: readonly string[] = []): void {
  const faults: FieldFaults = {};
  for (const [index, host] of hosts.entries()) {
    const fault = findHostFault(host.replace(/^\*\./, ''));
    if (fault) faults[`sip_hosts.${index}`] = invalid(`must not be named: it ${fault}`);
  }
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

const toDistinct = (values: readonly string[] | null | undefined): string[] | null =>
  values ? [...new Set(values)] : null;
