import { differenceOf, NO_COUNTS, sumOf, totalOf, type Counts } from './change';
import { noFigures, type Figures } from './model';
import type { Expectations, Rate } from './outcome';

/** The results of two replays by buyer, and those of the real calls; null for synthetic calls. */
export interface Results {
  ids: readonly number[];
  names: ReadonlyMap<number, string | null>;
  changed: ReadonlySet<number>;
  expected: Expectations;
  real: ReadonlyMap<number, Counts> | null;
  as_configured: ReadonlyMap<number, Figures>;
  as_changed: ReadonlyMap<number, Figures>;
}

export function compare({
  ids,
  names,
  changed,
  expected,
  real,
  as_configured,
  as_changed,
}: Results) {
  const buyers = ids.map((id) => ({
    buyer_id: id,
    name: names.get(id) ?? null,
    changed: changed.has(id),
    answer_rate: rounded(expected.rates.get(id)?.answer),
    conversion_rate: rounded(expected.rates.get(id)?.conversion),
    ...compared(
      real && (real.get(id) ?? NO_COUNTS),
      as_configured.get(id) ?? noFigures(),
      as_changed.get(id) ?? noFigures(),
    ),
  }));
  const totals = compared(
    real && sumOf([...real.values()]),
    totalOf([...as_configured.values()]),
    totalOf([...as_changed.values()]),
  );
  return { buyers, totals };
}

const compared = (real: Counts | null, as_configured: Figures, as_changed: Figures) => ({
  real,
  as_configured,
  as_changed,
  difference: differenceOf(as_configured, as_changed),
});

const rounded = (one: Rate | undefined): number | null =>
  one ? Math.round(one.rate * 10_000) / 10_000 : null;
