import type { Schemas } from '../../../platform/contract/contract';
import type { PayingConversion } from '../load-conversions';
import type { Settlement } from './settlement';

// Why the buyer that had a call does not pay for it, for people and programs.

export type UnbilledReason = Schemas['UnbilledReason'];

/** The condition of a conversion that a call does not meet. */
export type UnmetCondition =
  | { reason: 'too_short'; answered_seconds: number }
  | { reason: 'filter_unmet'; filter: string }
  | { reason: 'not_reported' }
  | { reason: 'end_not_reported' };

export interface CheckedConversion {
  conversion: PayingConversion;
  /** Undefined for a conversion that applies: the first of these is the one that counts. */
  unmet: UnmetCondition | undefined;
}

/** The conversion that counts. */
export const pickApplicable = (
  checked: readonly CheckedConversion[],
): PayingConversion | undefined => checked.find(({ unmet }) => !unmet)?.conversion;

type UnmetConversion = Schemas['UnmetConversion'];

export interface Unbilled {
  reason: UnbilledReason;
  message: string;
  conversions: UnmetConversion[];
}

export const RETURNED: Unbilled = {
  reason: 'returned',
  message: 'what the buyer paid for the call was taken back',
  conversions: [],
};

const NO_CONVERSION: Unbilled = {
  reason: 'no_conversion',
  message: 'the buyer had no conversion for the time of the call',
  conversions: [],
};

/** The nearest to a payment comes first: it is the reason of the call. */
const NEAREST_FIRST = [
  'duplicate',
  'filter_unmet',
  'end_not_reported',
  'too_short',
  'not_reported',
] as const satisfies readonly UnbilledReason[];

/**
 * Explains why none of a buyer's conversions is paid. One that applies was paid for the caller
 * before. Pure.
 */
export function explainUnbilled(checked: readonly CheckedConversion[]): Unbilled {
  if (checked.length === 0) return NO_CONVERSION;
  const applying = pickApplicable(checked);
  const conversions = checked.map(({ conversion, unmet }): UnmetConversion => {
    const { id, name, conversion_type, duration } = conversion;
    const fault = unmet ?? { reason: conversion === applying ? 'duplicate' : 'later' };
    return {
      buyer_conversion_id: id || null,
      name,
      reason: fault.reason,
      message: describe(conversion, fault),
      duration: conversion_type === 'duration' ? duration : null,
      answered_seconds: 'answered_seconds' in fault ? fault.answered_seconds : null,
      filter: 'filter' in fault ? fault.filter : null,
    };
  });
  const reason = NEAREST_FIRST.find((nearest) =>
    conversions.some((conversion) => conversion.reason === nearest),
  )!;
  return { reason, message: joinMessages(conversions), conversions };
}

type Fault = UnmetCondition | { reason: 'duplicate' } | { reason: 'later' };

function describe({ duration, duplicate_timeframe }: PayingConversion, fault: Fault): string {
  switch (fault.reason) {
    case 'too_short':
      return `${fault.answered_seconds} of ${duration} seconds`;
    case 'filter_unmet':
      return `${fault.filter} is not met`;
    case 'duplicate':
      return describeDuplicate(duplicate_timeframe);
    case 'later':
      return 'a conversion before it applies';
    case 'not_reported':
      return 'the buyer has not reported it';
    case 'end_not_reported':
      return `asks for ${duration} seconds, and no event said how long the buyer talked`;
  }
}

const describeDuplicate = (seconds: number): string =>
  `the buyer has paid for this caller within ${seconds} seconds`;

const joinMessages = (conversions: readonly UnmetConversion[]): string =>
  conversions.length === 1
    ? conversions[0]!.message
    : conversions
        .map(({ name, message }, n) => `${name ?? `conversion ${n + 1}`}: ${message}`)
        .join('; ');

/**
 * The event of a payment that is not due because the buyer has paid for the caller before; none
 * where the call is known to be of such a caller.
 */
export const listDuplicateEvents = (
  { buyer_repeat_caller }: { buyer_repeat_caller: boolean },
  { buyer_paid, buyer_id, buyer_seconds }: Settlement,
): Settlement['events'] =>
  buyer_paid && !buyer_repeat_caller
    ? [
        {
          event: 'not_converted',
          message: describeDuplicate(buyer_seconds),
          buyer_id,
          details: { reason: 'duplicate' },
        },
      ]
    : [];

/** The event at the end of a call that its buyer does not pay. */
export const buildUnbilledEvent = (
  { message, ...details }: Unbilled,
  buyerId: number,
): Settlement['events'][number] => ({
  event: 'not_converted',
  message,
  buyer_id: buyerId,
  details,
});
