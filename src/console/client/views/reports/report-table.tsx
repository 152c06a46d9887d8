import { Fragment, type ComponentChild } from 'preact';
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
  /** The sums of each first group, by its key. */
  sums: ReadonlyMap<string, Figures>;
  sort: (order: string, direction: 'asc' | 'desc') => void;
}

/** The figures of each row, and of all; with their change where periods are compared. */
export function ReportTable(props: ReportTableProps) {
  const { state, shown, report, first, before, sums, sort } = props;
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
          {rows.map((row, index) => (
            <Fragment key={JSON.stringify(row.groups)}>
              {!isSameGroup(rows[index - 1], row) && (
                <SumRow groups={row.groups} figures={sums.get(findSumKey(row))} shown={shown} />
              )}
              <tr>
                {row.groups.map((group) => (
                  <td key={group.by} class="key">
                    {nameGroup(group)}
                  </td>
                ))}
                <Cells shown={shown} figures={row} before={before?.rows.get(joinKey(row, first))} />
              </tr>
            </Fragment>
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

type Row = Report['rows'][number];

/** The key of the first group of a row. */
export const findSumKey = ({ groups }: Row): string => JSON.stringify(groups[0]?.key ?? null);

const isSameGroup = (before: Row | undefined, row: Row): boolean =>
  before !== undefined && findSumKey(before) === findSumKey(row);

interface SumRowProps {
  groups: Row['groups'];
  figures: Figures | undefined;
  shown: readonly Figure[];
}

/** The sum of a first group, above its rows. */
function SumRow({ groups: [first, ...others], figures, shown }: SumRowProps) {
  if (!figures || !first) return null;
  return (
    <tr class="sum">
      <th scope="row" class="key">
        {nameGroup(first)}
      </th>
      <td class="key" colSpan={others.length}>
        All
      </td>
      <Cells shown={shown} figures={figures} before={undefined} />
    </tr>
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
