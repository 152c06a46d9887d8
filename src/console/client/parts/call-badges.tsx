import { words } from '../format';
import type { Json } from '../transport';
import { Badge } from './basics';

/** A publisher does not see whether a buyer pays, but whether the source is paid. */
const isPaid = ({ buyer_converted: sold, traffic_source_converted: bought }: Json): boolean =>
  (sold ?? bought) === true;

/** State of a call: how it went, whether it is paid, and that no telephone rang. */
export const CallBadges = ({ call }: { call: Json }) => (
  <span>
    <Badge>{words(call.status as string | null)}</Badge>{' '}
    {isPaid(call) && <Badge tone="good">paid</Badge>}{' '}
    {call.unbilled_reason === 'returned' && <Badge tone="warn">returned</Badge>}{' '}
    {call.category === 'outbound' && <Badge>outbound</Badge>}{' '}
    {call.sandbox === true && <Badge tone="warn">sandbox</Badge>}
  </span>
);
