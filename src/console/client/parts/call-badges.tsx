import { words } from '../format';
import type { Json } from '../transport';
import { Badge } from './basics';

/** State of a call: how it went, whether it is paid, and that no telephone rang. */
export const CallBadges = ({ call }: { call: Json }) => (
  <>
    <Badge>{words(call.status as string | null)}</Badge>{' '}
    {call.buyer_converted === true && <Badge tone="good">paid</Badge>}{' '}
    {call.category === 'outbound' && <Badge>outbound</Badge>}{' '}
    {call.sandbox === true && <Badge tone="warn">sandbox</Badge>}
  </>
);
