import { METRICS, type Interval, type Metric } from '../../src/buyers/caps';

// A simple model of calls: every use of a cap with its time, and every open attempt.

export type Cap = `${Metric}_${Interval}` | 'concurrency';
export type OwnerName = `buyer ${number}` | `group ${number}`;

export interface ModelOwner {
  name: OwnerName;
  zone: string;
  paused: boolean;
  tier: number;
  limits: Map<Cap, number>;
  uses: { at: Date; metric: Metric; amount: number }[];
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
}

export interface ModelAttempt {
  uuid: string;
  buyer: ModelBuyer;
  group: ModelGroup | null;
  status: 'ringing' | 'answered' | 'connected' | 'over';
  connected_at?: Date;
  converted: boolean;
}
export interface ModelCall {
  id: number;
  caller: string;
  attempts: ModelAttempt[];
  ended: boolean;
}

/** Dollars that each buyer pays for a call of a minute. */
export const PAID = 10;
export const PAID_AFTER = 60;

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
function windowOf(interval: Interval, zone: string, at: Date): string {
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
  const window = windowOf(interval, zone, now);
  return uses.reduce(
    (sum, use) =>
      use.metric === metric && windowOf(interval, zone, use.at) === window ? sum + use.amount : sum,
    0,
  );
}

/** What open calls reserve of an owner: a slot each, and what it may still use. */
export function held(owner: ModelOwner, calls: readonly ModelCall[]) {
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
    sums.revenue += converted ? 0 : PAID;
  }
  return sums;
}

/** Whether all caps of an owner have room for one more call. */
export function hasRoom(owner: ModelOwner, calls: readonly ModelCall[], now: Date): boolean {
  const { slots, connections, conversions, revenue } = held(owner, calls);
  const pending: Record<Metric, number> = {
    attempt: 0,
    connection: connections,
    buyer_conversion: conversions,
    revenue,
    earned_revenue: revenue,
  };
  const one: Record<Metric, number> = {
    attempt: 1,
    connection: 1,
    buyer_conversion: 1,
    revenue: PAID,
    earned_revenue: PAID,
  };
  return [...owner.limits].every(([cap, limit]) => {
    if (cap === 'concurrency') return slots + 1 <= limit;
    const metric = METRICS.find((each) => cap.startsWith(`${each}_`))!;
    const interval = cap.slice(metric.length + 1) as Interval;
    const taken = used(owner, { metric, interval }, now) + pending[metric];
    return taken < limit && taken + one[metric] <= limit;
  });
}

function isOpen({ hours, zone }: ModelBuyer, now: Date): boolean {
  const hour = Number(localParts(zone, now).hour);
  return hours === null || (hour >= hours[0] && hour < hours[1]);
}

/** The tier by which a buyer may have a call now; undefined when it may not. */
export function tierFor(
  buyer: ModelBuyer,
  call: Pick<ModelCall, 'caller' | 'attempts'>,
  { calls, now }: { calls: readonly ModelCall[]; now: Date },
): number | undefined {
  if (call.attempts.some((attempt) => attempt.buyer === buyer)) return undefined;
  if (
    buyer.paused ||
    !isOpen(buyer, now) ||
    buyer.suppressed.has(call.caller) ||
    !hasRoom(buyer, calls, now)
  )
    return undefined;
  const through = buyer.groups
    .filter((group) => !group.paused && hasRoom(group, calls, now))
    .map((group) => (group.at_once ? group.tier : buyer.tier));
  const ways = buyer.direct ? [buyer.tier, ...through] : through;
  return ways.length > 0 ? Math.min(...ways) : undefined;
}

/** Adds to the use of the buyer of an attempt, and of the group through which it was dialed. */
export function use(
  { buyer, group }: ModelAttempt,
  amounts: Partial<Record<Metric, number>>,
  at: Date,
): void {
  for (const owner of group ? [buyer, group] : [buyer])
    for (const [metric, amount] of Object.entries(amounts) as [Metric, number][])
      owner.uses.push({ at, metric, amount });
}

/** Applies an event to a call; 'again' if the next buyers are dialed. */
export function applyEvent(
  call: ModelCall,
  attempt: ModelAttempt,
  event: string,
  now: Date,
): 'again' | undefined {
  const open = () => call.attempts.filter(({ status }) => status !== 'over');
  const end = (one: ModelAttempt) => void (one.status = 'over');
  if (
    event === 'completed' ||
    (attempt.status === 'connected' && ['no_answer', 'busy'].includes(event))
  ) {
    for (const one of open()) {
      if (one.connected_at && now.getTime() - one.connected_at.getTime() >= PAID_AFTER * 1000)
        use(one, { buyer_conversion: 1, revenue: PAID, earned_revenue: PAID }, now);
      end(one);
    }
    call.ended = true;
    return undefined;
  }
  const takes =
    (attempt.status === 'ringing' && event === 'answered' && !attempt.buyer.press_one) ||
    (attempt.status === 'answered' && event === 'press');
  if (takes) {
    open()
      .filter((one) => one !== attempt)
      .forEach(end);
    Object.assign(attempt, { status: 'connected', connected_at: now });
    use(attempt, { connection: 1 }, now);
  } else if (attempt.status === 'ringing' && event === 'answered') attempt.status = 'answered';
  else if (
    (attempt.status === 'ringing' && ['no_answer', 'busy'].includes(event)) ||
    (attempt.status === 'answered' && ['decline', 'no_answer', 'busy'].includes(event))
  ) {
    end(attempt);
    return open().length === 0 ? 'again' : undefined;
  }
  return undefined;
}
