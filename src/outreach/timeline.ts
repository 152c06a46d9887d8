import { candidatesOf } from '../routing/load-candidates';
import {
  loadOffers,
  loadSuppressed,
  readContact,
  readLead,
  type DueLead,
} from './queries/due-leads';
import { visibleBuyers } from '../db/access-scope';
import { findRecord, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { notFound } from '../errors';
import { eligibility } from '../routing/engine/eligibility';
import { ianaName } from '../time/zone';
import { openContext } from './context';
import { timelineOf } from './build-timeline';
import { executorOf } from '../db/executor';

async function worldOf(db: Db, reference: Reference, now: Date) {
  const id = await findRecord(db, 'leads', reference);
  const client = executorOf(db);
  const lead = await readLead(client, String(db.company_id), String(id));
  if (!lead) throw notFound();
  const [contact, world] = [
    await readContact(client, lead),
    await openContext(client, [lead], now),
  ];
  return { lead, contact, world };
}

/** The list that keeps its calls from the offer; those of a schedule are about what goes out. */
async function suppressedOnOffer(
  db: Db,
  { company_id, offer_id, caller_number }: DueLead,
): Promise<string | undefined> {
  const client = executorOf(db);
  const [offer] = (await loadOffers(client, [{ company_id, id: offer_id }])).values();
  return (
    offer &&
    (await loadSuppressed(client, [{ company_id, caller_number, lists: offer.lists }])).get(0)
  );
}

/** What would come of a lead. */
export const leadTimeline = ({ clock, carrier, mailer, config }: Deps) =>
  ({
    showLeadTimeline: async ({ params, query, db }) => {
      const { lead, contact, world } = await worldOf(db, params.id, clock());
      const edges = { carrier, mailer, mail_from: config.mail_from };
      const timeline = await timelineOf(db, lead, {
        contact,
        world,
        edges,
        zone: ianaName(query.time_zone ?? 'UTC') ?? 'UTC',
      });
      return { status: 200, success: true, errors: {}, timeline, metadata: { root: 'timeline' } };
    },

    showBuyerAvailability: async ({ params, db }) => {
      const now = clock();
      const { lead, contact, world } = await worldOf(db, params.id, now);
      const all =
        lead.offer_id === null
          ? []
          : await candidatesOf(db, lead.offer_id, lead.caller_number, now);
      const seen = await visibleBuyers(
        db,
        all.map(({ id }) => id),
      );
      const candidates = all.filter(({ id }) => seen.has(id));
      const buyers = candidates.map((candidate) =>
        eligibility(candidate, { now, tokens: world.tokensOf(lead) }),
      );
      const { paused } = world.standingOf(lead, contact);
      const suppressed_by = await suppressedOnOffer(db, lead);
      const reason =
        lead.offer_id === null
          ? 'the lead belongs to no offer'
          : contact.blocked
            ? 'the number is on the blacklist of the company'
            : suppressed_by
              ? `the number is on the suppression list ${suppressed_by}`
              : paused
                ? 'its offer or schedule is paused'
                : buyers.length === 0
                  ? 'the offer has no buyers'
                  : null;
      const buyer_is_available = reason === null && buyers.some(({ available }) => available);
      return {
        status: 200,
        success: true,
        errors: {},
        buyer_is_available,
        reason,
        buyers,
        metadata: { root: 'buyers' },
      };
    },
  }) satisfies Partial<Handlers>;
