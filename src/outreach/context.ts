import { sqlOn } from '../db/sql';
import {
  loadCallFacts,
  loadOffers,
  loadSchedules,
  loadSuppressed,
  type CallFacts,
  type ContactState,
  type DueLead,
  type OfferRow,
} from './queries/due-leads';
import { loadCandidates } from '../routing/load-candidates';
import { availableInOrder } from '../routing/engine/route';
import type { Facts, Plan, Progress } from '../schedules/engine/cadence';
import { offerTurn, type OfferVerdict } from '../schedules/engine/offer-next-step';
import { compileSchedule, planOf, type CompiledSchedule } from '../schedules/engine/plan';
import { turn, type Standing, type Turn } from '../schedules/engine/next-step';
import type { TokenSource } from '../tokens/substitute';
import { leadTokens } from '../tokens/system';
import { chooseNumber } from '../numbers/choose-number';
import { type Executor } from '../db/executor';
import { loadNumbers, type OwnNumber } from '../numbers/own-numbers';

export type NumberColumn = 'sms_number_id' | 'dial_number_id';

/** All that decides what comes of some leads, as it stands at one moment. */
export interface OutreachContext {
  now: Date;
  scheduleOf(lead: DueLead): CompiledSchedule | undefined;
  /** Whether its schedule, or the offer it belongs to, is gone. */
  isOrphan(lead: DueLead): boolean;
  standingOf(lead: DueLead, contact: ContactState): Standing;
  /** `service_number` is the one it is contacted from; unless told the one it was given. */
  tokensOf(lead: DueLead, service_number?: OwnNumber): TokenSource;
  numberFor(lead: DueLead, column: NumberColumn): OwnNumber | undefined;
  /** The company's own number of these digits. */
  ownNumber(lead: DueLead, digits: string): OwnNumber | undefined;
  /** To whom a lead that asked for a call is connected: where its schedule would connect it, else the buyer of its offer whose turn it is. */
  connectionOf(lead: DueLead): Connection | undefined;
}

/** To whom an answered call is connected. */
export interface Connection {
  connect_to: string;
  timeout_seconds: number;
}

const key = ({ company_id }: { company_id: string }, id: string | null) => `${company_id}/${id}`;

/** Loads what the leads depend on, in a fixed number of statements. */
export async function openContext(
  client: Executor,
  leads: readonly DueLead[],
  now: Date,
): Promise<OutreachContext> {
  const named = (column: 'schedule_id' | 'offer_id') =>
    leads.map((lead) => ({ company_id: lead.company_id, id: lead[column] }));
  const rows = await loadSchedules(client, named('schedule_id'));
  const schedules = new Map([...rows].map(([name, row]) => [name, compileSchedule(row)]));
  const offers = await loadOffers(client, named('offer_id'));
  const scheduleOf = (lead: DueLead) => schedules.get(key(lead, lead.schedule_id));
  const offerOf = (lead: DueLead): OfferRow | undefined => offers.get(key(lead, lead.offer_id));
  const lists = (lead: DueLead) => [
    ...(scheduleOf(lead)?.row.lists ?? []),
    ...(offerOf(lead)?.lists ?? []),
  ];
  const asked = leads.map((lead) => ({
    company_id: lead.company_id,
    caller_number: lead.caller_number,
    lists: lists(lead),
  }));
  const suppressed = await loadSuppressed(client, asked);
  const suppressed_by = new Map([...suppressed].map(([n, list]) => [leads[n]!.id, Number(list)]));
  const numbers = await loadNumbers(
    client,
    leads.map(({ company_id }) => company_id),
  );
  const called = await loadCallFacts(
    client,
    leads.filter((lead) => scheduleOf(lead)?.uses_calls),
    now,
  );
  const numberFor = (lead: DueLead, column: NumberColumn) =>
    chooseNumber(numbers.get(lead.company_id) ?? [], lead, lead[column]);
  const dialOf = (lead: DueLead) =>
    scheduleOf(lead)?.row.actions.find(({ action_type }) => action_type === 'dial');
  const waiting = leads.filter(
    (lead) =>
      lead.callback_at !== null &&
      lead.callback_at <= now &&
      !dialOf(lead) &&
      lead.offer_id !== null,
  );
  const candidates = await loadCandidates(
    sqlOn(client),
    waiting.map(({ company_id, offer_id, caller_number }) => ({
      company_id,
      offer_id: offer_id!,
      caller_number,
    })),
    now,
  );
  const ownBy = (lead: DueLead, name: 'id' | 'number', value: string | null) =>
    value === null
      ? undefined
      : numbers.get(lead.company_id)?.find((number) => number[name] === value);
  const tokensOf = (
    lead: DueLead,
    service_number = ownBy(lead, 'id', lead.dial_number_id) ??
      ownBy(lead, 'id', lead.sms_number_id),
  ) =>
    leadTokens(
      lead.data,
      factsOf(lead, { called: called.get(lead.id), service_number, offer: offerOf(lead) }),
    );
  const buyers = new Map(
    waiting.map((lead, n) => [
      lead.id,
      availableInOrder(candidates.get(n) ?? [], { now, tokens: tokensOf(lead) })[0],
    ]),
  );
  return {
    now,
    scheduleOf,
    numberFor,
    ownNumber: (lead, digits) => ownBy(lead, 'number', digits),
    tokensOf,
    connectionOf: (lead) => {
      const dial = dialOf(lead);
      if (dial) return { connect_to: dial.connect_to!, timeout_seconds: dial.timeout_seconds! };
      const buyer = buyers.get(lead.id);
      return buyer && { connect_to: buyer.number!, timeout_seconds: buyer.timeout_seconds };
    },
    isOrphan: (lead) =>
      lead.schedule_id === null ? offerOf(lead) === undefined : scheduleOf(lead) === undefined,
    standingOf: (lead, { blocked, opt_out }) => ({
      blocked,
      opt_out,
      paused: (scheduleOf(lead)?.row.paused ?? false) || (offerOf(lead)?.paused ?? false),
      suppressed_by: suppressed_by.get(lead.id) ?? null,
      has_email: lead.email !== null,
      has_number: numberFor(lead, 'dial_number_id') !== undefined,
    }),
  };
}

interface Known {
  called: CallFacts | undefined;
  service_number: OwnNumber | undefined;
  offer: OfferRow | undefined;
}

function factsOf(lead: DueLead, { called, service_number, offer }: Known) {
  return {
    caller_id: `+${lead.caller_number}`,
    service_number: service_number && `+${service_number.number}`,
    offer_name: offer?.name,
    buyer_name: lead.buyer_name ?? undefined,
    call_uuid: called?.call_uuid,
    total_duration: called?.total_duration,
    revenue: lead.revenue,
    payout: lead.payout,
    previous_buyer_fleet_ids: lead.buyer_fleet ? [lead.buyer_fleet] : [],
    calls_last: called?.calls_last ?? { 1: 0, 7: 0, 30: 0, 90: 0 },
  };
}

/** The plan of a lead as its schedule and its tokens now are. */
export const planFor = (world: OutreachContext, lead: DueLead): Plan =>
  planOf(world.scheduleOf(lead), lead, world.tokensOf(lead));

/** What is to be done for a lead that stands at `progress`, now. */
export function turnOf(
  lead: DueLead,
  progress: Progress,
  plan: Plan,
  facts: Facts & { standing: Standing },
): Omit<Turn, 'verdict'> & { verdict: OfferVerdict } {
  return lead.schedule_id === null ? offerTurn(progress, plan, facts) : turn(progress, plan, facts);
}
