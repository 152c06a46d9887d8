import type { ComponentChild } from 'preact';
import type { Schemas } from '../../api';
import { percent } from '../../format';
import { Heading } from '../../table/heading';
import { findChange, joinKey } from './compare';
import type { Figure, Figures } from './figures';
import { GROUPS, nameGroup } from './groups';
import type { ReportState } from './state';

export type Report = Schemas['GroupedCallReport'];

/** The report of the period before, by the keys that its rows share with those of this one. */
export interface Before {
  rows: ReadonlyMap<string, Figures>;
  totals: Figures;
}

interface ReportTableProps {
  state: ReportState;
  shown: readonly Figure[];
  report: Report;
  /** The first day of the period. */
  first: string;
  before: Before | undefined;
  sort: (order: string, direction: 'asc' | 'desc') => void;
}

/** The figures of each row, and of all; with their change where periods are compared. */
export function ReportTable({ state, shown, report, first, before, sort }: ReportTableProps) {
  const { rows, totals } = report;
  if (rows.length === 0) return <p class="quiet">There were no such calls in this period.</p>;
  return (
    <div class="scroll sorted" role="region" aria-label="Report" tabIndex={0}>
      <table>
        <caption class="hidden">Report</caption>
        <thead>
          <tr>
            {state.groups.map((group) => (
              <th key={group} scope="col">
                {GROUPS[group]}
              </th>
            ))}
            {shown.map(({ name, title }) => (
              <Heading key={name} title={title} isNumber order={name} state={state} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={JSON.stringify(row.groups)}>
              {row.groups.map((group) => (
                <td key={group.by} class="key">
                  {nameGroup(group)}
                </td>
              ))}
              <Cells shown={shown} figures={row} before={before?.rows.get(joinKey(row, first))} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={state.groups.length}>
              All
            </th>
            <Cells shown={shown} figures={totals} before={before?.totals} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

interface CellsProps {
  shown: readonly Figure[];
  figures: Figures;
  before: Figures | undefined;
}

const Cells = ({ shown, figures, before }: CellsProps) => (
  <>
    {shown.map((figure) => (
      <td key={figure.name} class="number">
        {figure.format(figures[figure.name])}
        {before && showChange(figure, figures, before)}
      </td>
    ))}
  </>
);

function showChange({ name, format }: Figure, now: Figures, before: Figures): ComponentChild {
  const change = findChange(now[name], before[name]);
  if (change === undefined) return null;
  return (
    <small class="change" title={`Before: ${format(before[name])}`}>
      {change > 0 && '+'}
      {percent(change)}
    </small>
  );
}
