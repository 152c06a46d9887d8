import type { Sql } from '../db/sql';
import { chooseNumber } from '../numbers/choose-number';
import { loadNumbers, type OwnNumber } from '../numbers/own-numbers';
import type { MachineAction } from '../phone/machine-message';
import type { Action, Plan } from '../schedules/engine/cadence';
import type { Standing } from '../schedules/engine/next-step';
import {
  compileSchedule,
  planOf,
  type ActionRow,
  type CompiledSchedule,
} from '../schedules/engine/plan';
import { areaOf, countryOf } from '../phone/area-codes';
import { foundFor, setFound, type Found } from '../tokens/filter-lookups';
import { needsOf } from '../tokens/filter-needs';
import type { TokenSource } from '../tokens/substitute';
import { lookUpForFilters } from '../value-lists/look-up';
import { leadTokens } from '../tokens/system';
import {
  findSuppressions,
  loadCallFacts,
  loadContactability,
  loadOffers,
  loadSchedules,
  recordKey,
  type CallFacts,
  type Contactability,
  type OfferRow,
} from './load-context';
import type { DueLead } from './load-leads';
import type { ContactState } from './lock-contacts';

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

export const connectionBy = (action: ActionRow): Connection => ({
  connect_to: action.connect_to,
  timeout_seconds: action.timeout_seconds ?? ROUTED.timeout_seconds,
  machine_action: action.machine_action as MachineAction,
  machine_message: action.machine_message,
  only_when_buyer_available: action.only_when_buyer_available ?? false,
});

interface Loaded {
  now: Date;
  /** By `recordKey`. */
  schedules: ReadonlyMap<string, CompiledSchedule>;
  offers: ReadonlyMap<string, OfferRow>;
  /** Values of lists that filters need, by the id of the lead. Filled after everything else. */
  found: Map<string, Found>;
  /** By company id. */
  numbers: ReadonlyMap<string, readonly OwnNumber[]>;
  /** By the id of the lead. */
  suppressed_by: ReadonlyMap<string, number>;
  /** Restrictions by companies, offers and schedules, by the id of the lead. */
  contactability: ReadonlyMap<string, Contactability>;
  calls: ReadonlyMap<string, CallFacts>;
}

/** Everything that decides what happens to some leads, as it was when it was loaded. */
export class OutreachContext {
  readonly now: Date;

  constructor(private readonly loaded: Loaded) {
    this.now = loaded.now;
  }

  /** Looks up values that the filters of actions need, before any filter is evaluated. */
  async lookUp(sql: Sql, leads: readonly DueLead[]): Promise<this> {
    const { found } = this.loaded;
    const deciding = leads.flatMap((lead) => {
      const { lists } = needsOf(
        (this.scheduleOf(lead)?.row.actions ?? []).map(({ token_filters }) => token_filters),
      );
      const { company_id, id } = lead;
      const needs = { lists, user_traffic_source_id: false };
      return lists.length > 0 ? [{ id, company_id, tokens: this.tokensOf(lead), needs }] : [];
    });
    await lookUpForFilters(sql, deciding);
    for (const { id, tokens } of deciding) found.set(id, foundFor(tokens)!);
    return this;
  }

  scheduleOf(lead: Pick<DueLead, 'company_id' | 'schedule_id'>): CompiledSchedule | undefined {
    return this.loaded.schedules.get(recordKey({ ...lead, id: lead.schedule_id }));
  }

  actionOf(lead: DueLead, { id }: Pick<Action, 'id'>): ActionRow {
    return this.scheduleOf(lead)!.rows.get(id)!;
  }

  private offerOf(lead: DueLead): OfferRow | undefined {
    return this.loaded.offers.get(recordKey({ ...lead, id: lead.offer_id }));
  }

  /** The lead's schedule, or without one its offer, was deleted. */
  isOrphan(lead: DueLead): boolean {
    return lead.schedule_id === null
      ? this.offerOf(lead) === undefined
      : this.scheduleOf(lead) === undefined;
  }

  standingOf(lead: DueLead, contact: ContactState): Standing {
    const { blocked, opt_out, refusal } = this.loaded.contactability.get(lead.id)!;
    return {
      blocked: contact.blocked || blocked,
      opt_out: contact.opt_out || opt_out,
      paused: (this.scheduleOf(lead)?.row.paused ?? false) || (this.offerOf(lead)?.paused ?? false),
      suppressed_by: this.loaded.suppressed_by.get(lead.id) ?? null,
      has_email: lead.email !== null,
      has_number: this.numberFor(lead, 'dial_number_id') !== undefined,
      number_allowed: refusal === undefined,
    };
  }

  /** Why the company neither calls nor texts the number of a lead; undefined when it does. */
  refusalOf({ id }: DueLead): string | undefined {
    return this.loaded.contactability.get(id)!.refusal;
  }

  /** The tokens of a lead that is contacted from `service_number`; by default from its own. */
  tokensOf(lead: DueLead, service_number = this.serviceNumberOf(lead)): TokenSource {
    const calls = this.loaded.calls.get(lead.id);
    const tokens = leadTokens(lead.data, {
      caller_id: `+${lead.caller_number}`,
      service_number: service_number && `+${service_number.number}`,
      offer_name: this.offerOf(lead)?.name,
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
        country: countryOf(Number(lead.caller_number)),
        area: areaOf(lead.caller_number),
      },
    });
    const found = this.loaded.found.get(lead.id);
    if (found) setFound(tokens, found);
    return tokens;
  }

  private serviceNumberOf({ company_id, dial_number_id, sms_number_id }: DueLead) {
    const numbers = this.numbersOf(company_id);
    return (
      numbers.find(({ id }) => id === dial_number_id) ??
      numbers.find(({ id }) => id === sms_number_id)
    );
  }

  numberFor(lead: DueLead, column: NumberColumn): OwnNumber | undefined {
    return chooseNumber(this.numbersOf(lead.company_id), lead, lead[column]);
  }

  ownNumber({ company_id }: DueLead, digits: string): OwnNumber | undefined {
    return this.numbersOf(company_id).find(({ number }) => number === digits);
  }

  private numbersOf(company_id: string): readonly OwnNumber[] {
    return this.loaded.numbers.get(company_id) ?? [];
  }

  /**
   * The connection of a call that no action places: that of the first dial action of the lead's
   * schedule; without one the call is routed.
   */
  connectionOf(lead: DueLead): Connection {
    const dial = dialActionOf(this.scheduleOf(lead));
    return dial ? connectionBy(dial) : ROUTED;
  }

  /** The offer whose buyers take the calls of a lead: its own, else that of its schedule. */
  offerOfCalls(lead: DueLead): string | null {
    return lead.offer_id ?? this.scheduleOf(lead)?.row.offer_id ?? null;
  }

  planFor(lead: DueLead): Plan {
    return planOf(this.scheduleOf(lead), lead, this.tokensOf(lead));
  }
}

const dialActionOf = (schedule: CompiledSchedule | undefined) =>
  schedule?.row.actions.find(({ action_type }) => action_type === 'dial');

/** Loads the records that decide about leads, in a fixed number of statements. */
export async function openContext(
  sql: Sql,
  leads: readonly DueLead[],
  now: Date,
): Promise<OutreachContext> {
  const keysOf = (column: 'schedule_id' | 'offer_id') =>
    leads.map((lead) => ({ company_id: lead.company_id, id: lead[column] }));
  const rows = await loadSchedules(sql, keysOf('schedule_id'));
  const schedules = new Map([...rows].map(([key, row]) => [key, compileSchedule(row)]));
  const offers = await loadOffers(sql, keysOf('offer_id'));
  const scheduleOf = (lead: DueLead) => schedules.get(recordKey({ ...lead, id: lead.schedule_id }));
  const offerOf = (lead: DueLead) => offers.get(recordKey({ ...lead, id: lead.offer_id }));
  const checks = leads.map((lead) => ({
    company_id: lead.company_id,
    caller_number: lead.caller_number,
    lists: [...(scheduleOf(lead)?.row.lists ?? []), ...(offerOf(lead)?.lists ?? [])],
  }));
  const suppressions = await findSuppressions(sql, checks);
  const contactability = await loadContactability(sql, leads);
  const numbers = await loadNumbers(
    sql,
    leads.map(({ company_id }) => company_id),
  );
  const with_call_tokens = leads.filter((lead) => scheduleOf(lead)?.uses_calls);
  const calls = await loadCallFacts(sql, with_call_tokens, now);
  const context = new OutreachContext({
    now,
    found: new Map(),
    schedules,
    offers,
    numbers,
    calls,
    contactability,
    suppressed_by: new Map(
      [...suppressions].map(([place, list_id]) => [leads[place]!.id, Number(list_id)]),
    ),
  });
  return context.lookUp(sql, leads);
}
