// The codes by which the far end of a leg answers: of SIP (RFC 3261) and ISDN (Q.850).

export interface LegAnswer {
  sip_code?: number | null | undefined;
  /** Cause of Q.850; counts where there is no code of SIP. */
  q850?: number | null | undefined;
}

/** Why a buyer did not take a call. `no_such_number` is a fault of the buyer's settings. */
export type LegFailure = 'busy' | 'no_answer' | 'declined' | 'no_such_number';

const BY_SIP_CODE: Record<number, LegFailure> = {
  404: 'no_such_number',
  408: 'no_answer',
  410: 'no_such_number',
  480: 'no_answer',
  484: 'no_such_number',
  485: 'no_such_number',
  486: 'busy',
  487: 'no_answer',
  600: 'busy',
  603: 'declined',
  604: 'no_such_number',
  607: 'declined',
};

const BY_Q850: Record<number, LegFailure> = {
  1: 'no_such_number',
  17: 'busy',
  18: 'no_answer',
  19: 'no_answer',
  21: 'declined',
  22: 'no_such_number',
  28: 'no_such_number',
};

/** Answers of a trunk, not of a telephone: it refuses calls, lacks a route or channel, or fails. */
const TRUNK_SIP_CODES = new Set([401, 403, 407]);
const TRUNK_Q850 = new Set([2, 3, 25, 27, 34, 38, 41, 42, 44, 47, 58, 63]);

/** True where the codes say that the trunk has failed, so that another one may reach the buyer. */
export const isTrunkFailure = ({ sip_code, q850 }: LegAnswer): boolean =>
  typeof sip_code === 'number'
    ? TRUNK_SIP_CODES.has(sip_code) || (sip_code >= 500 && sip_code < 600)
    : TRUNK_Q850.has(q850 ?? -1);

/** Undefined where the codes do not tell, or none are given. */
export const findLegFailure = ({ sip_code, q850 }: LegAnswer): LegFailure | undefined =>
  typeof sip_code === 'number' ? BY_SIP_CODE[sip_code] : BY_Q850[q850 ?? -1];
