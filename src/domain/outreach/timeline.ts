import { findRingRules } from '../../platform/carriers/carrier';
import { selectVisibleBuyers } from '../../data/access/scope';
import { findRecord, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { notFound } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { loadRouting } from '../routing/context';
import { evaluateEligibility } from '../routing/engine/eligibility';
import { combineNeeds } from '../../platform/tokens/filter-needs';
import { lookUpForFilters } from '../value-lists/look-up';
import { ianaName } from '../../platform/time/zone';
import { loadLiveSwitches } from '../switches/originate';
import { buildTimeline } from './build-timeline';
import { loadOutreachContext, type OutreachContext } from './context';
import { findSuppressions, loadOffers } from './context';
import { readLead } from './load-leads';
import { type DueLead } from './due-lead';
import { readContact, type ContactState } from './load-leads';

// The timeline of a lead, and the buyers of its offer that are available for it. Reads only.

export const leadTimeline = ({ clock, carrier, mailer, config }: Deps) =>
  ({
    showLeadTimeline: async ({ params, query, db }) => {
      const now = clock();
      const leadContext = await loadLead(db, params.id, now);
      const company = { company_ids: [String(db.company_id)], now };
      const switches = await loadLiveSwitches(db.sql, carrier, company);
      const channels = { carrier, mailer, mail_from: config.mail_from, switches };
      const zone = ianaName(query.time_zone ?? 'UTC') ?? 'UTC';
      const timeline = await buildTimeline(db, leadContext.lead, {
        ...leadContext,
        channels,
        zone,
      });
      return { status: 200, success: true, errors: {}, timeline, metadata: { root: 'timeline' } };
    },

    showBuyerAvailability: async ({ params, db }) => {
      const now = clock();
      const { lead, contact, records } = await loadLead(db, params.id, now);
      const candidates = await loadVisibleCandidates(db, lead, now);
      const tokens = records.buildTokens(lead);
      const needs = combineNeeds(candidates.map((candidate) => candidate.record_token_filter_list));
      await lookUpForFilters(db.sql, [{ company_id: db.company_id, tokens, needs }]);
      const facts = { now, tokens, ...findRingRules(carrier.name, carrier) };
      const buyers = candidates.map((candidate) => evaluateEligibility(candidate, facts));
      const reason = await explainUnavailability(db, lead, {
        contact,
        records,
        has_buyers: buyers.length > 0,
      });
      return {
        status: 200,
        success: true,
        errors: {},
        buyer_is_available: reason === null && buyers.some(({ available }) => available),
        reason,
        buyers,
        metadata: { root: 'buyers' },
      };
    },
  }) satisfies Partial<Handlers>;

async function loadLead(db: Db, reference: Reference, now: Date) {
  const id = await findRecord(db, 'leads', reference);
  const lead = await readLead(db.sql, String(db.company_id), String(id));
  if (!lead) throw notFound();
  const contact = await readContact(db.sql, lead);
  return { lead, contact, records: await loadOutreachContext(db.sql, [lead], now) };
}

async function loadVisibleCandidates(db: Db, { offer_id, caller_number }: DueLead, now: Date) {
  if (offer_id === null) return [];
  const request = { source: { offer_id }, number: Number(caller_number), traffic_source_id: null };
  const { candidates = [] } = (await loadRouting(db, { ...request, now })) ?? {};
  const visible = await selectVisibleBuyers(
    db,
    candidates.map(({ id }) => id),
  );
  return candidates.filter(({ id }) => visible.has(id));
}

/** Why no buyer of the lead's offer is available; null when that depends on the buyers. */
async function explainUnavailability(
  db: Db,
  lead: DueLead,
  {
    contact,
    records,
    has_buyers,
  }: { contact: ContactState; records: OutreachContext; has_buyers: boolean },
): Promise<string | null> {
  const listId = await findOfferSuppression(db, lead);
  if (lead.offer_id === null) return 'the lead belongs to no offer';
  const conditions = records.buildContactability(lead, contact);
  if (contact.blocked) return 'the number is on the blacklist of the company';
  if (conditions.blocked) return 'the number is blocked for the offer';
  if (listId) return `the number is on the suppression list ${listId}`;
  if (conditions.paused) return 'its offer or schedule is paused';
  return has_buyers ? null : 'the offer has no buyers';
}

/**
 * The suppression list that keeps calls of the number from the lead's offer. The lists of its
 * schedule apply only to messages and calls to the lead.
 */
async function findOfferSuppression(
  { sql }: Db,
  { company_id, offer_id, caller_number }: DueLead,
): Promise<string | undefined> {
  const [offer] = (await loadOffers(sql, [{ company_id, id: offer_id }])).values();
  if (!offer) return undefined;
  const { lists } = offer;
  return (await findSuppressions(sql, [{ company_id, caller_number, lists }])).get(0);
}
