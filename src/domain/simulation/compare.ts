import { subtractCounts, NO_COUNTS, sumCounts, sumFigures, type Counts } from './change';
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
    answer_rate: roundRate(expected.rates.get(id)?.answer),
    conversion_rate: roundRate(expected.rates.get(id)?.conversion),
    ...compareFigures(
      real && (real.get(id) ?? NO_COUNTS),
      as_configured.get(id) ?? noFigures(),
      as_changed.get(id) ?? noFigures(),
    ),
  }));
  const totals = compareFigures(
    real && sumCounts([...real.values()]),
    sumFigures([...as_configured.values()]),
    sumFigures([...as_changed.values()]),
  );
  return { buyers, totals };
}

const compareFigures = (real: Counts | null, asConfigured: Figures, asChanged: Figures) => ({
  real,
  as_configured: asConfigured,
  as_changed: asChanged,
  difference: subtractCounts(asConfigured, asChanged),
});

const roundRate = (expectedRate: Rate | undefined): number | null =>
  expectedRate ? Math.round(expectedRate.rate * 10_000) / 10_000 : null;
