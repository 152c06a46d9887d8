import type { Schemas } from '../api';
import { count, dollars, dayTime, words } from '../format';
import type { Tone } from './basics';

type Buyer = Schemas['Buyer'];

const METRICS = ['attempt', 'connection', 'buyer_conversion', 'revenue', 'earned_revenue'] as const;
const WINDOWS = ['hourly', 'daily', 'monthly', 'total'] as const;
type CapName = `${(typeof METRICS)[number]}_${(typeof WINDOWS)[number]}`;

/** Forms, bars and hours have one set of words for what a cap counts. */
export const METRIC_NAMES: Record<(typeof METRICS)[number], string> = {
  attempt: 'Dialed',
  connection: 'Calls taken',
  buyer_conversion: 'Calls paid for',
  revenue: 'Revenue',
  earned_revenue: 'Margin',
};
const WINDOW_NAMES: Record<(typeof WINDOWS)[number], string> = {
  hourly: 'this hour',
  daily: 'today',
  monthly: 'this month',
  total: 'in all',
};

export interface Cap {
  name: CapName | 'concurrency';
  title: string;
  used: number;
  limit: number;
  is_money: boolean;
}

/** The caps of a buyer that have a limit, as far as the caller may see them. */
export function listCaps(buyer: Buyer): Cap[] {
  const caps: Cap[] = [];
  const add = (cap: Omit<Cap, 'used' | 'limit'>, used?: number | null, limit?: number | null) => {
    if (typeof used === 'number' && typeof limit === 'number') caps.push({ ...cap, used, limit });
  };
  add(
    { name: 'concurrency', title: 'Calls at once', is_money: false },
    buyer.concurrency_cap_used,
    buyer.concurrency_cap_limit,
  );
  for (const metric of METRICS)
    for (const window of WINDOWS) {
      const name = `${metric}_${window}` as const;
      const title = `${METRIC_NAMES[metric]} ${WINDOW_NAMES[window]}`;
      const isMoney = metric.endsWith('revenue');
      add({ name, title, is_money: isMoney }, buyer[`${name}_used`], buyer[`${name}_limit`]);
    }
  return caps;
}

export const CAP_COLUMNS = [
  'concurrency_cap_used',
  'concurrency_cap_limit',
  ...METRICS.flatMap((metric) =>
    WINDOWS.flatMap((window) => [`${metric}_${window}_used`, `${metric}_${window}_limit`]),
  ),
];

export const computeShare = ({ used, limit }: Pick<Cap, 'used' | 'limit'>): number =>
  limit > 0 ? used / limit : 1;

/** From this share on, a cap is near its end. */
export const NEAR = 0.8;

export const byShare = (caps: readonly Cap[]): Cap[] =>
  [...caps].sort((first, second) => computeShare(second) - computeShare(first));

function pickTone(share: number): Tone {
  if (share >= 1) return 'bad';
  return share >= NEAR ? 'warn' : 'good';
}

interface BarProps {
  title: string;
  used: number;
  limit: number;
  is_money: boolean;
  resets_at?: string | null;
}

/** A bar of the used share of a limit, with the numbers in words. */
export function Bar({ title, used, limit, is_money, resets_at }: BarProps) {
  const format = is_money ? dollars : count;
  const share = computeShare({ used, limit });
  const rest = format(Math.max(limit - used, 0));
  const left = `${format(used)} of ${format(limit)} used, ${rest} left`;
  return (
    <div class="bar">
      <div class="bar-text">
        <span>{title}</span>
        <span class="number">
          <b>{format(used)}</b> / {format(limit)}
        </span>
      </div>
      <div
        role="meter"
        aria-label={title}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(used, limit)}
        aria-valuetext={left}
      >
        <svg class={`meter ${pickTone(share)}`} aria-hidden="true">
          <rect width={`${Math.min(share, 1) * 100}%`} height="100%" />
        </svg>
      </div>
      <small class="quiet">
        {share >= 1 ? 'Used up' : `${format(limit - used)} left`}
        {resets_at && `, again from ${dayTime(resets_at)}`}
      </small>
    </div>
  );
}

export const capTitle = (name: string): string => {
  const window = WINDOWS.find((candidate) => name.endsWith(`_${candidate}`));
  const metric = METRICS.find((candidate) => name === `${candidate}_${window}`);
  if (name === 'concurrency') return 'Calls at once';
  return metric && window ? `${METRIC_NAMES[metric]} ${WINDOW_NAMES[window]}` : words(name);
};

export const isMoney = (name: string): boolean => name.includes('revenue');
