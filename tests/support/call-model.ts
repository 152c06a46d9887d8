import { METRICS, type Interval, type Metric } from '../../src/domain/caps/caps';

// A simple model of calls: every use of a cap with its time, and every open attempt.

export type Cap = `${Metric}_${Interval}` | 'concurrency';
export type OwnerName = `buyer ${number}` | `group ${number}` | `source ${number}`;

export interface Use {
  at: Date;
  metric: Metric;
  amount: number;
}

export interface ModelOwner {
  name: OwnerName;
  zone: string;
  paused: boolean;
  tier: number;
  limits: Map<Cap, number>;
  uses: Use[];
}
export interface ModelGroup extends ModelOwner {
  at_once: boolean;
}
export interface ModelBuyer extends ModelOwner {
  id: number;
  press_one: boolean;
  /** Local hours in which it is open, the last not among them. */
  hours: [number, number] | null;
  suppressed: Set<string>;
  direct: boolean;
  groups: ModelGroup[];
  /** Dollars that it pays for a call: a bidder what it bids. */
  price: number;
  /** Dollars of a prepaid buyer; null for any other. */
  balance: number | null;
  credit: number;
}

export interface ModelAttempt {
  uuid: string;
  buyer: ModelBuyer;
  group: ModelGroup | null;
  /** The source of the call; absent where a test has none. */
  source?: ModelOwner;
  status: 'ringing' | 'answered' | 'connected' | 'over';
  connected_at?: Date;
  /** The key that its buyer has pressed when it was asked for one. */
  pressed?: string;
  converted: boolean;
  /** Usage that was counted for its conversion, until it is returned. */
  returnable: { owner: ModelOwner; use: Use }[];
}
export interface ModelCall {
  id: number;
  caller: string;
  attempts: ModelAttempt[];
  ended: boolean;
}

/** Dollars that each buyer pays for a call of a minute. */
export const PAID = 10;
/** The bid of a bidder; it is less, so that the dearest buyer of a call is never a bidder. */
export const BID = 7;
export const PAID_AFTER = 60;
/** Dollars that the source of all calls is paid for one that a buyer pays for. */
export const PAYOUT = 4;

const formats = new Map<string, Intl.DateTimeFormat>();
function localParts(zone: string, at: Date): Record<string, string> {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
    });
  formats.set(zone, format);
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
}

/** Names the window that an instant is in. */
function nameWindow(interval: Interval, zone: string, at: Date): string {
  const { year, month, day, hour } = localParts(zone, at);
  return {
    total: '',
    monthly: `${year}-${month}`,
    daily: `${year}-${month}-${day}`,
    hourly: `${year}-${month}-${day} ${hour}`,
  }[interval];
}

export function used(
  { uses, zone }: ModelOwner,
  { metric, interval }: { metric: Metric; interval: Interval },
  now: Date,
): number {
  const window = nameWindow(interval, zone, now);
  return uses.reduce(
    (sum, use) =>
      use.metric === metric && nameWindow(interval, zone, use.at) === window
        ? sum + use.amount
        : sum,
    0,
  );
}

/** Reservations of calls at their source, whichever buyers they ring, until they end. */
function sumHeldBySource(calls: readonly ModelCall[]) {
  const open = calls.filter(({ ended }) => !ended);
  const connected = open.filter(({ attempts }) =>
    attempts.some(({ connected_at }) => connected_at),
  );
  return {
    slots: open.length,
    connections: open.length - connected.length,
    conversions: open.length,
    revenue: open.length * PAID,
  };
}

/** Reservations of open calls at an owner: a slot each, and the most it may still use. */
export function held(owner: ModelOwner, calls: readonly ModelCall[]) {
  if (owner.name.startsWith('source')) return sumHeldBySource(calls);
  const sums = { slots: 0, connections: 0, conversions: 0, revenue: 0 };
  for (const { attempts } of calls) {
    const open = attempts.filter(
      ({ status, buyer, group }) => status !== 'over' && (buyer === owner || group === owner),
    );
    if (open.length === 0) continue;
    const connected = open.some(({ status }) => status === 'connected');
    const converted = open.some((attempt) => attempt.converted);
    sums.slots += 1;
    sums.connections += connected ? 0 : 1;
    sums.conversions += converted ? 0 : 1;
    sums.revenue += converted ? 0 : Math.max(...open.map(({ buyer }) => buyer.price));
  }
  return sums;
}

/** True if a prepaid buyer can pay for one more call. */
const canPay = (buyer: ModelBuyer, calls: readonly ModelCall[]): boolean => {
  if (buyer.balance === null) return true;
  const [available, reserved] = [buyer.balance + buyer.credit, held(buyer, calls).revenue];
  return reserved < available && reserved + buyer.price <= available;
};

/** True if all caps of an owner have room for one more call, at the most it may come to. */
export function hasRoom(
  owner: ModelOwner,
  calls: readonly ModelCall[],
  { now, price = PAID }: { now: Date; price?: number },
): boolean {
  const { slots, connections, conversions, revenue } = held(owner, calls);
  const pending: Record<Metric, number> = {
    attempt: 0,
    connection: connections,
    buyer_conversion: conversions,
    revenue,
    earned_revenue: revenue,
  };
  const singleCall: Record<Metric, number> = {
    attempt: 1,
    connection: 1,
    buyer_conversion: 1,
    revenue: price,
    earned_revenue: price,
  };
  return [...owner.limits].every(([cap, limit]) => {
    if (cap === 'concurrency') return slots + 1 <= limit;
    const metric = METRICS.find((candidate) => cap.startsWith(`${candidate}_`))!;
    const interval = cap.slice(metric.length + 1) as Interval;
    const usage = used(owner, { metric, interval }, now) + pending[metric];
    return usage < limit && usage + singleCall[metric] <= limit;
  });
}

function isOpen({ hours, zone }: ModelBuyer, now: Date): boolean {
  const hour = Number(localParts(zone, now).hour);
  return hours === null || (hour >= hours[0] && hour < hours[1]);
}

/** The tier by which a buyer may have a call now; undefined when it may not. */
export function findTier(
  buyer: ModelBuyer,
  call: Pick<ModelCall, 'caller' | 'attempts'>,
  { calls, now }: { calls: readonly ModelCall[]; now: Date },
): number | undefined {
  if (call.attempts.some((attempt) => attempt.buyer === buyer)) return undefined;
  if (
    buyer.paused ||
    !isOpen(buyer, now) ||
    buyer.suppressed.has(call.caller) ||
    !hasRoom(buyer, calls, { now, price: buyer.price }) ||
    !canPay(buyer, calls)
  )
    return undefined;
  const through = buyer.groups
    .filter((group) => !group.paused && hasRoom(group, calls, { now }))
    .map((group) => (group.at_once ? group.tier : buyer.tier));
  const tiers = buyer.direct ? [buyer.tier, ...through] : through;
  return tiers.length > 0 ? Math.min(...tiers) : undefined;
}

/** Adds to the use of the buyer of an attempt, of its group on the way, and of the source. */
export function use(
  { buyer, group, source }: ModelAttempt,
  amounts: Partial<Record<Metric, number>>,
  at: Date,
): ModelAttempt['returnable'] {
  const uses = [buyer, group, source].flatMap((owner) =>
    owner
      ? (Object.entries(amounts) as [Metric, number][]).map(([metric, amount]) => ({
          owner,
          use: { at, metric, amount },
        }))
      : [],
  );
  for (const { owner, use: entry } of uses) owner.uses.push(entry);
  return uses;
}

/** The buyer of an attempt pays what it pays for a call. */
function convert(attempt: ModelAttempt, at: Date): void {
  const { buyer } = attempt;
  const revenue = buyer.price;
  const earnedRevenue = revenue - PAYOUT;
  attempt.returnable = use(
    attempt,
    { buyer_conversion: 1, revenue, earned_revenue: earnedRevenue },
    at,
  );
  if (buyer.balance !== null) buyer.balance -= revenue;
}

/** Takes back what was counted for the conversion of an attempt, and gives the buyer its money. */
export function giveBack(attempt: ModelAttempt): void {
  const { buyer, returnable } = attempt;
  for (const { owner, use: entry } of returnable)
    owner.uses = owner.uses.filter((candidate) => candidate !== entry);
  if (returnable.length > 0 && buyer.balance !== null) buyer.balance += buyer.price;
  attempt.returnable = [];
}

/** Applies an event to a call; the result is defined if the next buyers are dialed. */
export function applyEvent(
  call: ModelCall,
  attempt: ModelAttempt,
  event: string,
  now: Date,
): 'next_round' | undefined {
  const open = () => call.attempts.filter(({ status }) => status !== 'over');
  const end = (openAttempt: ModelAttempt) => void (openAttempt.status = 'over');
  if (
    event === 'completed' ||
    (attempt.status === 'connected' && ['no_answer', 'busy'].includes(event))
  ) {
    for (const openAttempt of open()) {
      if (
        openAttempt.connected_at &&
        now.getTime() - openAttempt.connected_at.getTime() >= PAID_AFTER * 1000
      )
        convert(openAttempt, now);
      end(openAttempt);
    }
    call.ended = true;
    return undefined;
  }
  const takes =
    (attempt.status === 'ringing' && event === 'answered' && !attempt.buyer.press_one) ||
    (attempt.status === 'answered' && event === 'press');
  if (takes) {
    open()
      .filter((openAttempt) => openAttempt !== attempt)
      .forEach(end);
    Object.assign(attempt, { status: 'connected', connected_at: now });
    use(attempt, { connection: 1 }, now);
  } else if (attempt.status === 'ringing' && event === 'answered') attempt.status = 'answered';
  else if (
    (attempt.status === 'ringing' && ['no_answer', 'busy'].includes(event)) ||
    (attempt.status === 'answered' && ['decline', 'no_answer', 'busy'].includes(event))
  ) {
    end(attempt);
    return open().length === 0 ? 'next_round' : undefined;
  }
  return undefined;
}
