import { readCountry } from '../../data/phone/area-codes';
import { SOFTSWITCH, takesTrunks } from '../../platform/carriers/carrier';
import type { Lines, Trunk } from './engine/line';

interface CallOfSwitch {
  carrier: string;
  /** Absent for a call that may come from any switch; null for one whose switch is not known. */
  switch_id?: string | number | null | undefined;
}

/**
 * The trunks of the switch that has a call, and for a carrier that takes the name of a trunk those
 * of no switch. Undefined where there is none, so that the line is chosen elsewhere, and for calls
 * of other carriers.
 */
export function findLines(
  trunks: readonly Trunk[],
  { carrier, switch_id: switchId }: CallOfSwitch,
  failed: ReadonlySet<number> = new Set(),
): Lines | undefined {
  const isOfSwitch = carrier === SOFTSWITCH;
  if (!isOfSwitch && !takesTrunks(carrier)) return undefined;
  const own = trunks.filter(
    ({ switch_id }) =>
      switch_id === null ||
      (isOfSwitch && (switchId === undefined || String(switch_id) === String(switchId))),
  );
  return own.length > 0 ? { trunks: own, failed, without: new Set(), findCountry } : undefined;
}

const findCountry = (digits: string): string | null => readCountry(Number(digits));
