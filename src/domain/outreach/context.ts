import type { Sql } from '../../data/sql';
import { chooseNumber } from '../numbers/choose-number';
import { loadNumbers, type OwnNumber } from '../numbers/own-numbers';
import type { MachineAction } from '../../data/phone/machine-message';
import type { Action, Plan } from '../schedules/engine/cadence';
import type { ContactConditions } from '../schedules/engine/next-step';
import {
  compileSchedule,
  buildPlan,
  type ActionRow,
  type CompiledSchedule,
  type ScheduleRow,
} from '../schedules/engine/plan';
import { readCountry } from '../../data/phone/area-codes';
import { readNumberOrigin } from '../../data/phone/number-zones';
import { contactRefusal } from '../../data/phone/contact-policy';
import { readLookups, setLookups, type ListLookups } from '../../platform/tokens/filter-lookups';
import { combineNeeds } from '../../platform/tokens/filter-needs';
import type { TokenSource } from '../../platform/tokens/substitute';
import { lookUpForFilters } from '../value-lists/look-up';
import { leadTokens } from '../../platform/tokens/system';
import type { DueLead, LeadKey } from './due-lead';
import type { ContactState } from './load-leads';
import {
  FIND_SUPPRESSIONS,
  LOAD_CALL_FACTS,
  LOAD_CONTACTABILITY,
  LOAD_OFFERS,
  LOAD_SCHEDULES,
} from './queries/context';

export type NumberColumn = 'sms_number_id' | 'dial_number_id';

/** How a call to a lead continues once it is answered. */
export interface Connection {
  /** A telephone number or a sip: address; null: a buyer of the offer, as for inbound calls. */
  connect_to: string | null;
  timeout_seconds: number;
  machine_action: MachineAction;
  /** With tokens; text or a URL. */
  machine_message: string | null;
  only_when_buyer_available: boolean;
}

const ROUTED: Connection = {
  connect_to: null,
  timeout_seconds: 30,
  machine_action: 'hang_up',
  machine_message: null,
  only_when_buyer_available: true,
};

export const toConnection = (action: ActionRow): Connection => ({
  connect_to: action.connect_to,
  timeout_seconds: action.timeout_seconds ?? ROUTED.timeout_seconds,
  machine_action: action.machine_action as MachineAction,
  machine_message: action.machine_message,
  only_when_buyer_available: action.only_when_buyer_available ?? false,
});

interface LoadedRecords {
  now: Date;
  /** By `recordKey`. */
  schedules: ReadonlyMap<string, CompiledSchedule>;
  offers: ReadonlyMap<string, OfferRow>;
  /** Values of lists that filters need, by the id of the lead. Filled after everything else. */
  lookups: Map<string, ListLookups>;
  /** By company id. */
  numbers: ReadonlyMap<string, readonly OwnNumber[]>;
  /** By the id of the lead. */
  suppressed_by: ReadonlyMap<string, number>;
  /** Restrictions by companies, offers and schedules, by the id of the lead. */
  restrictions: ReadonlyMap<string, ContactRestrictions>;
  calls: ReadonlyMap<string, CallFacts>;
}

/** Everything that decides what happens to some leads, as it was when it was loaded. */
export class OutreachContext {
  readonly now: Date;

  constructor(private readonly loaded: LoadedRecords) {
    this.now = loaded.now;
  }

  /** Looks up values that the filters of actions need, before any filter is evaluated. */
  async lookUp(sql: Sql, leads: readonly DueLead[]): Promise<this> {
    const { lookups } = this.loaded;
    const deciding = leads.flatMap((lead) => {
      const { lists } = combineNeeds(
        (this.findSchedule(lead)?.row.actions ?? []).map(({ token_filters }) => token_filters),
      );
      const { company_id, id } = lead;
      const needs = { lists, user_traffic_source_id: false };
      return lists.length > 0 ? [{ id, company_id, tokens: this.buildTokens(lead), needs }] : [];
    });
    await lookUpForFilters(sql, deciding);
    for (const { id, tokens } of deciding) lookups.set(id, readLookups(tokens)!);
    return this;
  }

  findSchedule(lead: Pick<DueLead, 'company_id' | 'schedule_id'>): CompiledSchedule | undefined {
    return this.loaded.schedules.get(recordKey({ ...lead, id: lead.schedule_id }));
  }

  findAction(lead: DueLead, { id }: Pick<Action, 'id'>): ActionRow {
    return this.findSchedule(lead)!.rows.get(id)!;
  }

  private findOffer(lead: DueLead): OfferRow | undefined {
    return this.loaded.offers.get(recordKey({ ...lead, id: lead.offer_id }));
  }

  /** The lead's schedule, or without one its offer, was deleted. */
  isOrphan(lead: DueLead): boolean {
    return lead.schedule_id === null
      ? this.findOffer(lead) === undefined
      : this.findSchedule(lead) === undefined;
  }

  buildContactability(lead: DueLead, contact: ContactState): ContactConditions {
    const { blocked, opt_out, refusal } = this.loaded.restrictions.get(lead.id)!;
    return {
      blocked: contact.blocked || blocked,
      opt_out: contact.opt_out || opt_out,
      paused:
        (this.findSchedule(lead)?.row.paused ?? false) || (this.findOffer(lead)?.paused ?? false),
      suppressed_by: this.loaded.suppressed_by.get(lead.id) ?? null,
      has_email: lead.email !== null,
      has_number: this.pickNumber(lead, 'dial_number_id') !== undefined,
      number_allowed: refusal === undefined,
    };
  }

  /** Why the company neither calls nor texts the number of a lead; undefined when it does. */
  findRefusal({ id }: DueLead): string | undefined {
    return this.loaded.restrictions.get(id)!.refusal;
  }

  /** The tokens of a lead that is contacted from `service_number`; by default from its own. */
  buildTokens(lead: DueLead, serviceNumber = this.findServiceNumber(lead)): TokenSource {
    const calls = this.loaded.calls.get(lead.id);
    const tokens = leadTokens(lead.data, {
      caller_id: `+${lead.caller_number}`,
      service_number: serviceNumber && `+${serviceNumber.number}`,
      offer_name: this.findOffer(lead)?.name,
      buyer_name: lead.buyer_name ?? undefined,
      call_uuid: calls?.call_uuid,
      total_duration: calls?.total_duration,
      revenue: lead.revenue,
      payout: lead.payout,
      previous_buyer_fleet_ids: lead.buyer_fleet ? [lead.buyer_fleet] : [],
      calls_last: calls?.calls_last ?? { 1: 0, 7: 0, 30: 0, 90: 0 },
      origin: {
        traffic_source_id: lead.traffic_source_id,
        user_traffic_source_id: lead.user_traffic_source_id ?? '',
        sub_id: lead.sub_id,
        country: readCountry(Number(lead.caller_number)),
        ...readNumberOrigin(lead.caller_number),
      },
    });
    const leadLookups = this.loaded.lookups.get(lead.id);
    if (leadLookups) setLookups(tokens, leadLookups);
    return tokens;
  }

  private findServiceNumber({ company_id, dial_number_id, sms_number_id }: DueLead) {
    const numbers = this.listNumbers(company_id);
    return (
      numbers.find(({ id }) => id === dial_number_id) ??
      numbers.find(({ id }) => id === sms_number_id)
    );
  }

  pickNumber(lead: DueLead, column: NumberColumn): OwnNumber | undefined {
    return chooseNumber(this.listNumbers(lead.company_id), lead, lead[column]);
  }

  findOwnNumber({ company_id }: DueLead, digits: string): OwnNumber | undefined {
    return this.listNumbers(company_id).find(({ number }) => number === digits);
  }

  private listNumbers(companyId: string): readonly OwnNumber[] {
    return this.loaded.numbers.get(companyId) ?? [];
  }

  /**
   * The connection of a call that no action places: that of the first dial action of the lead's
   * schedule; without one the call is routed.
   */
  findConnection(lead: DueLead): Connection {
    const dial = findDialAction(this.findSchedule(lead));
    return dial ? toConnection(dial) : ROUTED;
  }

  /** The offer whose buyers take the calls of a lead: its own, else that of its schedule. */
  findCallOffer(lead: DueLead): string | null {
    return lead.offer_id ?? this.findSchedule(lead)?.row.offer_id ?? null;
  }

  planFor(lead: DueLead): Plan {
    return buildPlan(this.findSchedule(lead), lead, this.buildTokens(lead));
  }
}

const findDialAction = (schedule: CompiledSchedule | undefined) =>
  schedule?.row.actions.find(({ action_type }) => action_type === 'dial');

/** Loads the records that decide about leads, in a fixed number of statements. */
export async function loadOutreachContext(
  sql: Sql,
  leads: readonly DueLead[],
  now: Date,
): Promise<OutreachContext> {
  const listKeys = (column: 'schedule_id' | 'offer_id') =>
    leads.map((lead) => ({ company_id: lead.company_id, id: lead[column] }));
  const rows = await loadSchedules(sql, listKeys('schedule_id'));
  const schedules = new Map([...rows].map(([key, row]) => [key, compileSchedule(row)]));
  const offers = await loadOffers(sql, listKeys('offer_id'));
  const findSchedule = (lead: DueLead) =>
    schedules.get(recordKey({ ...lead, id: lead.schedule_id }));
  const findOffer = (lead: DueLead) => offers.get(recordKey({ ...lead, id: lead.offer_id }));
  const checks = leads.map((lead) => ({
    company_id: lead.company_id,
    caller_number: lead.caller_number,
    lists: [...(findSchedule(lead)?.row.lists ?? []), ...(findOffer(lead)?.lists ?? [])],
  }));
  const suppressions = await findSuppressions(sql, checks);
  const restrictions = await loadContactRestrictions(sql, leads);
  const numbers = await loadNumbers(
    sql,
    leads.map(({ company_id }) => company_id),
  );
  const withCallTokens = leads.filter((lead) => findSchedule(lead)?.uses_calls);
  const calls = await loadCallFacts(sql, withCallTokens, now);
  const context = new OutreachContext({
    now,
    lookups: new Map(),
    schedules,
    offers,
    numbers,
    calls,
    restrictions,
    suppressed_by: new Map(
      [...suppressions].map(([index, listId]) => [leads[index]!.id, Number(listId)]),
    ),
  });
  return context.lookUp(sql, leads);
}

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

const recordKey = ({ company_id, id }: RecordKey): string => `${company_id}/${id}`;

async function loadSchedules(
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
async function loadContactRestrictions(
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
async function loadCallFacts(
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
