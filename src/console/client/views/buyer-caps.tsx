import type { Schemas } from '../api';
import { dayTime } from '../format';
import type { PanelProps } from '../nouns/layout';
import { Panel } from '../parts/basics';
import { Bar, capTitle, listCaps } from '../parts/caps';
import type { Json } from '../transport';

type Buyer = Schemas['Buyer'];

/** How much of its caps a buyer has used. */
export function BuyerCaps({ record }: PanelProps) {
  const buyer = record as unknown as Buyer;
  const caps = listCaps(buyer);
  return (
    <Panel title="Used and left">
      {buyer.maxed_out_by && (
        <p class="notice bad">
          Gets no calls: {capTitle(buyer.maxed_out_by)} is used up
          {buyer.cap_reset_at && ` until ${dayTime(buyer.cap_reset_at)}`}.
        </p>
      )}
      {caps.length === 0 && <p class="quiet">There are no limits.</p>}
      <div class="bars">
        {caps.map((cap) => (
          <Bar key={cap.name} {...cap} />
        ))}
      </div>
    </Panel>
  );
}

/** In a word, whether a buyer gets calls. */
export function describeBuyerState({ paused, maxed_out_by }: Json) {
  if (paused) return { text: 'paused', tone: 'warn' } as const;
  if (maxed_out_by) return { text: 'cap reached', tone: 'bad' } as const;
  return { text: 'active', tone: 'good' } as const;
}
