import { setTimeout as sleep } from 'node:timers/promises';
import type { Fields } from '../../support/records';
import type { SipWorld } from './sip-world';
import type { PlacedCalls, Uas } from './sides';

/** A caller and a buyer who have talked for some seconds, and still do. */
export interface Talk {
  buyer: Uas;
  buyer_ids: number[];
  /** The number that was called. */
  number: string;
  calls: PlacedCalls;
  /** The Call-ID. */
  id: string;
  /** When the call was placed, as Date.now(). */
  placed_at: number;
}

const TALK_MS = 3_000;

/** Opens a talk through a proxy, by default that of the world. */
export async function openTalk(sip: SipWorld, proxy = sip.kamailio.port): Promise<Talk> {
  const buyer = await sip.startUas('answers');
  const { number, buyer_ids } = await sip.openOffer([{ uas: buyer }]);
  const placedAt = Date.now();
  const calls = await sip.placeCalls({ number, proxy });
  await calls.until('answered');
  await buyer.until('answered');
  const id = calls.ids[0]!;
  expect(await sip.readCall(id)).toMatchObject({ status: 'in_progress', buyer_id: buyer_ids[0] });
  await sleep(TALK_MS);
  return { buyer, buyer_ids, number, calls, id, placed_at: placedAt };
}

/** The record of a talk that has just ended in this way. */
export function expectTalk(call: Fields, { placed_at }: Talk, hangupCause: string): void {
  expect(call).toMatchObject({ status: 'completed', hangup_cause: hangupCause });
  // Whole seconds of the clock, and at most the time since the call was placed.
  const seconds = Number(call.answered_duration);
  expect(seconds).toBeGreaterThanOrEqual(TALK_MS / 1000 - 1);
  expect(seconds).toBeLessThanOrEqual(Math.ceil((Date.now() - placed_at) / 1000) + 1);
}
