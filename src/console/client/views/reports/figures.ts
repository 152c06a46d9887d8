import type { Schemas } from '../../api';
import { count, dollars, duration, percent, shortDollars } from '../../format';

export type FigureName = Schemas['GroupedCallReportOrder'];
export type Figures = Schemas['GroupedCallReportFigures'];

export interface Figure {
  name: FigureName;
  title: string;
  format: (value: number | null) => string;
  /** The short format, for the axis of the chart. */
  tick: (value: number) => string;
}

const asCount = { format: count, tick: count };
const asMoney = { format: dollars, tick: shortDollars };
const asRate = { format: percent, tick: percent };

/** The figures of each row, in the order of the columns. */
export const FIGURES: readonly Figure[] = [
  { name: 'calls', title: 'Calls', ...asCount },
  { name: 'connects', title: 'Connected', ...asCount },
  { name: 'connect_rate', title: 'Connect rate', ...asRate },
  { name: 'conversions', title: 'Paid for', ...asCount },
  { name: 'conversion_rate', title: 'Paid of connected', ...asRate },
  { name: 'revenue', title: 'Revenue', ...asMoney },
  { name: 'payout', title: 'Payout', ...asMoney },
  { name: 'profit', title: 'Profit', ...asMoney },
  { name: 'epc', title: 'Revenue a call', ...asMoney },
  { name: 'average_duration', title: 'Average length', format: duration, tick: duration },
];
