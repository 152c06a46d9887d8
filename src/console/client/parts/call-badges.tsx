import { describeStatus } from '../calls/call-status';
import type { Json } from '../transport';
import { Badge } from './basics';

/** A publisher does not see whether a buyer pays, but whether the source is paid. */
const isPaid = ({ buyer_converted: sold, traffic_source_converted: bought }: Json): boolean =>
  (sold ?? bought) === true;

/** State of a call: how it went, whether it is paid, and that it was a test. */
export const CallBadges = ({ call }: { call: Json }) => (
  <span>
    {call.sandbox === true && (
      <span title="No telephone rang">
        <Badge tone="warn">test</Badge>
      </span>
    )}{' '}
    {call.category === 'outbound' && <Badge>outgoing</Badge>} <Badge>{describeStatus(call)}</Badge>{' '}
    {isPaid(call) && <Badge tone="good">paid</Badge>}{' '}
    {call.unbilled_reason === 'returned' && <Badge tone="warn">returned</Badge>}
  </span>
);
