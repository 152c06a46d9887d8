import type { Availability } from '../routing/engine/availability';
import type { OutreachContext } from './context';
import type { DeliveryResult } from './deliver';
import type { Channels, Draft } from './drafts';
import type { DueLead } from './due-lead';
import type { ContactState } from './load-leads';

/** Sends a draft, or defers it to a separate transaction that follows at once. */
export type Sender = (lead: DueLead, draft: Draft) => Promise<DeliveryResult | 'deferred'>;

export type BuyerCheck = (lead: DueLead, offerId: string) => Promise<Availability>;

export interface StepContext {
  records: OutreachContext;
  /** Shared by the leads of one number: a change by one of them applies to the others. */
  contact: ContactState;
  channels: Channels;
  send: Sender;
  buyerFor: BuyerCheck;
  /** Until when a lead with a deferred draft stays claimed. */
  lease_until: Date;
}
