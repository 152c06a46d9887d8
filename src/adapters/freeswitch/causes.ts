import type { Cause } from '../service/failures';
import type { HttapiRequest } from './httapi/request';

/** Names of causes in FreeSWITCH that are of Q.850, with their numbers. */
const Q850: Record<string, number> = {
  ...{ UNALLOCATED_NUMBER: 1, NO_ROUTE_TRANSIT_NET: 2, NO_ROUTE_DESTINATION: 3 },
  ...{ CHANNEL_UNACCEPTABLE: 6, NORMAL_CLEARING: 16, USER_BUSY: 17, NO_USER_RESPONSE: 18 },
  ...{ NO_ANSWER: 19, SUBSCRIBER_ABSENT: 20, CALL_REJECTED: 21, NUMBER_CHANGED: 22 },
  ...{ EXCHANGE_ROUTING_ERROR: 25, DESTINATION_OUT_OF_ORDER: 27, INVALID_NUMBER_FORMAT: 28 },
  ...{ FACILITY_REJECTED: 29, NORMAL_UNSPECIFIED: 31, NORMAL_CIRCUIT_CONGESTION: 34 },
  ...{ NETWORK_OUT_OF_ORDER: 38, NORMAL_TEMPORARY_FAILURE: 41, SWITCH_CONGESTION: 42 },
  ...{ REQUESTED_CHAN_UNAVAIL: 44, FACILITY_NOT_SUBSCRIBED: 50, OUTGOING_CALL_BARRED: 52 },
  ...{ INCOMING_CALL_BARRED: 54, BEARERCAPABILITY_NOTAVAIL: 58, SERVICE_UNAVAILABLE: 63 },
  ...{ BEARERCAPABILITY_NOTIMPL: 65, INCOMPATIBLE_DESTINATION: 88 },
  ...{ RECOVERY_ON_TIMER_EXPIRE: 102, INTERWORKING: 127 },
};

/** A gateway that is not there, or a leg that has not even rung in all its time. */
const AWAY = new Set(['INVALID_GATEWAY', 'GATEWAY_DOWN', 'INVALID_PROFILE', 'PROGRESS_TIMEOUT']);
const UNAVAILABLE = 503;

/** FreeSWITCH has ended the leg: it rang for its whole time. */
const RANG_IN_VAIN = new Set(['NO_ANSWER', 'ALLOTTED_TIMEOUT']);

/** Variables that the bridge of a leg leaves; those of the leg before would be taken for them. */
export const CAUSE_VARIABLES = ['sip_invite_failure_status', 'originate_disposition'];

/** Why the leg that was just dialed has not answered. */
export function readCause({ variable }: Pick<HttapiRequest, 'variable'>): Cause {
  const disposition = variable('originate_disposition') ?? '';
  if (AWAY.has(disposition)) return { sip_code: UNAVAILABLE };
  if (RANG_IN_VAIN.has(disposition)) return {};
  const status = Number(variable('sip_invite_failure_status'));
  return {
    ...(status > 0 && { sip_code: status }),
    q850: Q850[disposition],
  };
}
