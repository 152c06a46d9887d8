import type { Schemas } from '../api';
import { dayTime } from '../format';
import type { PanelProps } from '../nouns/layout';
import { Panel } from '../parts/basics';
import { Bar, capTitle, listCaps } from '../parts/caps';
import { describeClosed } from './buyer-state';

type Buyer = Schemas['Buyer'];

/** How much of its caps a buyer has used. */
export function BuyerCaps({ record }: PanelProps) {
  const buyer = record as unknown as Buyer;
  const caps = listCaps(buyer);
  const obstacles = listObstacles(buyer);
  return (
    <Panel title="Used and left">
      {obstacles.map((obstacle) => (
        <p key={obstacle.text} class={`notice ${obstacle.tone}`}>
          No calls now: {obstacle.text}.
        </p>
      ))}
      {caps.length === 0 && <p class="quiet">There are no limits.</p>}
      <div class="bars">
        {caps.map((cap) => (
          <Bar key={cap.name} {...cap} />
        ))}
      </div>
    </Panel>
  );
}

/** All that keeps calls from a buyer, group or source at the moment. */
function listObstacles({ paused, maxed_out_by: cap, cap_reset_at: until, ...buyer }: Buyer) {
  return [
    ...(paused ? [{ tone: 'warn', text: 'it is paused' }] : []),
    ...(cap
      ? [
          {
            tone: 'bad',
            text: `${capTitle(cap)} is used up${until ? ` until ${dayTime(until)}` : ''}`,
          },
        ]
      : []),
    ...(buyer.closed ? [{ tone: 'warn', text: `it is ${describeClosed(buyer.opens_at)}` }] : []),
  ];
}
