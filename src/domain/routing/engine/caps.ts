import { CAPS, factsOf, type UsedUpCap } from '../../caps/caps';
import { isOpenGroup, type Candidate, type CandidateGroup, type Owner } from './candidate';
import { localTime, pauseFault, type Fault } from './reasons';

const dollars = (amount: number) => `$${amount.toFixed(2)}`;

/** The reason why caps keep an owner from calls; `owner` is its name in the message. */
export function capFault(
  { used_up, zone }: Pick<Owner, 'used_up' | 'zone'>,
  owner: string,
): Fault | undefined {
  if (!used_up) return undefined;
  const { cap, used, limit, resets_at } = used_up;
  if (cap === 'balance') return balanceFault(used_up, owner);
  const details = { cap, used, limit, resets_at: resets_at?.toISOString() ?? null };
  const countedCap = CAPS.find(({ metric, interval }) => `${metric}_${interval}` === cap);
  if (!countedCap) {
    const message = `${owner} has ${used} of ${limit} simultaneous calls`;
    return { reason: 'concurrency_full', message, details };
  }
  const { words, is_money } = factsOf(countedCap.metric);
  const name = `the ${countedCap.interval} cap on ${words} of ${owner}`;
  const state = describeState(used_up, { is_money, zone });
  return { reason: 'cap_reached', message: `${name} ${state}`, details };
}

/** The reason why a prepaid buyer cannot pay for a call; `limit` is its balance plus its credit. */
function balanceFault({ used, limit }: UsedUpCap, owner: string): Fault {
  const reserved = used > 0 ? `, of which calls in progress reserve ${dollars(used)}` : '';
  const message =
    limit - used > 0
      ? `${owner} has ${dollars(limit)} left${reserved}, less than a call may cost`
      : `${owner} is out of balance: it has ${dollars(limit)} left${reserved}`;
  return { reason: 'out_of_balance', message, details: { available: limit, reserved: used } };
}

function describeState(
  { used, limit, resets_at }: NonNullable<Owner['used_up']>,
  { is_money, zone }: { is_money: boolean; zone: string },
): string {
  if (limit === 0) return 'allows none';
  if (is_money && used < limit)
    return `has ${dollars(limit - used)} of ${dollars(limit)} left, less than a call may bring`;
  const amounts = is_money ? `${dollars(used)} of ${dollars(limit)}` : `${used} of ${limit}`;
  const resets = resets_at
    ? `resets at ${localTime(resets_at, zone)}`
    : 'stays so until it is reset';
  return `is reached (${amounts}) and ${resets}`;
}

/** The reason why the offer reaches the buyer neither directly nor through an open group. */
export function findPathFault({ direct, groups }: Candidate): Fault | undefined {
  if (direct) return undefined;
  for (const group of groups) if (isOpenGroup(group)) return undefined;
  const faults = groups.map(groupFault).filter((fault) => fault !== undefined);
  const reason =
    (['group_paused', 'cap_reached'] as const).find((candidateReason) =>
      faults.some((fault) => fault.reason === candidateReason),
    ) ?? 'concurrency_full';
  return { reason, message: faults.map(({ message }) => message).join('; ') };
}

function groupFault(group: CandidateGroup): Fault | undefined {
  const name = group.name ? `its group "${group.name}" (${group.id})` : `its group ${group.id}`;
  return group.paused ? pauseFault('group_paused', name) : capFault(group, name);
}

/**
 * The reason of used-up caps of a buyer or its groups: a reached cap goes before concurrency, and
 * the buyer's own cap before those of its groups.
 */
export function fullFault(candidate: Candidate, pathFault: Fault | undefined): Fault | undefined {
  const ownFault = candidate.used_up ? capFault(candidate, 'the buyer') : undefined;
  return ownFault?.reason !== 'cap_reached' && pathFault?.reason === 'cap_reached'
    ? pathFault
    : (ownFault ?? pathFault);
}
