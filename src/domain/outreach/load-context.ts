import type { Sql } from '../../data/sql';
import type { ScheduleRow } from '../schedules/engine/plan';
import type { LeadKey } from './due-lead';
import { contactRefusal } from '../../data/phone/contact-policy';
import {
  FIND_SUPPRESSIONS,
  LOAD_CALL_FACTS,
  LOAD_CONTACTABILITY,
  LOAD_OFFERS,
  LOAD_SCHEDULES,
} from './queries/context';

// Records that decide what happens to leads, for many leads of several companies at once. Records
// with an id of a company are returned by `recordKey`.

export interface OfferRow {
  company_id: string;
  id: string;
  name: string;
  paused: boolean;
  lists: string[];
}

interface RecordKey {
  company_id: string;
  id: string | null;
}

export const recordKey = ({ company_id, id }: RecordKey): string => `${company_id}/${id}`;

export async function loadSchedules(
  sql: Sql,
  keys: readonly RecordKey[],
): Promise<Map<string, ScheduleRow>> {
  return mapByKey(await sql(LOAD_SCHEDULES, listDistinctKeys(keys)));
}

export async function loadOffers(
  sql: Sql,
  keys: readonly RecordKey[],
): Promise<Map<string, OfferRow>> {
  return mapByKey(await sql(LOAD_OFFERS, listDistinctKeys(keys)));
}

const mapByKey = <T extends RecordKey>(rows: readonly T[]): Map<string, T> =>
  new Map(rows.map((row) => [recordKey(row), row]));

function listDistinctKeys(keys: readonly RecordKey[]) {
  const keysWithId = keys.flatMap(({ company_id, id }) =>
    id === null ? [] : [{ company_id, id }],
  );
  const unique = [...new Map(keysWithId.map((key) => [recordKey(key), key])).values()];
  return {
    company_ids: unique.map(({ company_id }) => company_id),
    ids: unique.map(({ id }) => id),
  };
}

export interface SuppressionCheck {
  company_id: string;
  caller_number: string;
  lists: readonly string[];
}

/** The id of the first list that contains the number of a check, by the index of the check. */
export async function findSuppressions(
  sql: Sql,
  checks: readonly SuppressionCheck[],
): Promise<Map<number, string>> {
  const pairs = checks.flatMap(({ company_id, caller_number, lists }, index) =>
    lists.map((listId) => ({ index, company_id, caller_number, list_id: listId })),
  );
  if (pairs.length === 0) return new Map();
  const matches = await sql(FIND_SUPPRESSIONS, {
    indexes: pairs.map(({ index }) => index),
    company_ids: pairs.map(({ company_id }) => company_id),
    caller_numbers: pairs.map(({ caller_number }) => caller_number),
    list_ids: pairs.map(({ list_id }) => list_id),
  });
  return new Map(matches.map(({ index, list_id }) => [index!, list_id]));
}

/** Restrictions of a lead's number in addition to those of its contact. */
export interface ContactRestrictions {
  /** The offer or schedule blocks the number, or the number has opted out of it. */
  blocked: boolean;
  opt_out: boolean;
  /** Why the company neither calls nor texts it, at any offer or schedule. */
  refusal: string | undefined;
}

/** Returned by the id of the lead. */
export async function loadContactRestrictions(
  sql: Sql,
  leads: readonly (LeadKey & { offer_id: string | null; schedule_id: string | null })[],
): Promise<Map<string, ContactRestrictions>> {
  const rows = await sql(LOAD_CONTACTABILITY, {
    company_ids: leads.map(({ company_id }) => company_id),
    caller_numbers: leads.map(({ caller_number }) => caller_number),
    // No record has the id 0.
    offer_ids: leads.map(({ offer_id }) => offer_id ?? '0'),
    schedule_ids: leads.map(({ schedule_id }) => schedule_id ?? '0'),
  });
  return new Map(
    rows.map(({ index: position, blocked, opt_out, ...policy }) => {
      const { id, caller_number } = leads[position - 1]!;
      return [id, { blocked, opt_out, refusal: contactRefusal(caller_number, policy) }];
    }),
  );
}

export interface CallFacts {
  /** The lead's last call. */
  call_uuid: string | undefined;
  /** Seconds of the lead's last call. */
  total_duration: number | undefined;
  calls_last: Record<1 | 7 | 30 | 90, number>;
}

/** Returned by the id of the lead. */
export async function loadCallFacts(
  sql: Sql,
  leads: readonly LeadKey[],
  now: Date,
): Promise<Map<string, CallFacts>> {
  if (leads.length === 0) return new Map();
  const companyIds = leads.map(({ company_id }) => company_id);
  const ids = leads.map(({ id }) => id);
  const rows = await sql(LOAD_CALL_FACTS, { company_ids: companyIds, ids, now });
  return new Map(
    rows.map((row) => [
      row.id,
      {
        call_uuid: row.call_uuid ?? undefined,
        total_duration: row.total_duration ?? undefined,
        calls_last: {
          1: row.calls_1_day,
          7: row.calls_7_days,
          30: row.calls_30_days,
          90: row.calls_90_days,
        },
      },
    ]),
  );
}
