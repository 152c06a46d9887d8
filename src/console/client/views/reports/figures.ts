import type { Schemas } from '../../api';
import type { Session } from '../../session';
import { seesPart, titleMoney, type MoneyPart } from '../../visible-contract';
import { clockDuration, count, dollars, duration, percent, shortDollars } from '../../format';

export type FigureName = Schemas['GroupedCallReportOrder'];
export type Figures = Schemas['GroupedCallReportFigures'];

export interface Figure {
  name: FigureName;
  title: string;
  format: (value: number | null) => string;
  /** The short format, for the axis of the chart. */
  tick: (value: number) => string;
  /** Its text in a file, and the unit for the heading. */
  cell: (value: number) => string;
  unit?: string;
  /** Absent where the figure shows nothing of the margin. */
  money?: MoneyPart;
}

const asCount = { format: count, tick: count, cell: String };
const asMoney = { format: dollars, tick: shortDollars, cell: String, unit: 'USD' };
const asRate = { format: percent, tick: percent, cell: percent };
const asDuration = { format: duration, tick: duration, cell: clockDuration };

/** The figures of each row, in the order of the columns. */
export const FIGURES: readonly Figure[] = [
  { name: 'calls', title: 'Calls', ...asCount },
  { name: 'connects', title: 'Connected', ...asCount },
  { name: 'connect_rate', title: 'Connect rate', ...asRate },
  { name: 'conversions', title: 'Paid for', ...asCount },
  { name: 'conversion_rate', title: 'Paid of connected', ...asRate },
  { name: 'revenue', title: 'Revenue', ...asMoney, money: 'sale' },
  { name: 'payout', title: 'Payout', ...asMoney, money: 'purchase' },
  { name: 'profit', title: 'Profit', ...asMoney, money: 'both' },
  { name: 'epc', title: 'Revenue a call', ...asMoney, money: 'sale' },
  { name: 'average_duration', title: 'Average length', ...asDuration },
];

/** The figures that the caller sees, by the names that they have for the caller. */
export const listFigures = (me: Session['me']): readonly Figure[] =>
  FIGURES.filter(({ money }) => money === undefined || seesPart(money, me)).map((figure) =>
    figure.name === 'revenue' || figure.name === 'payout'
      ? { ...figure, title: titleMoney(figure.name, me, figure.title) }
      : figure,
  );
