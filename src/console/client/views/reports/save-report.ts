import { ok, type Api } from '../../api';
import { saveBlob } from '../../transport';
import { toCsvFile, toLine } from '../../table/csv';
import { nameFile } from '../../table/export';
import type { Figure, Figures } from './figures';
import { exportGroup, GROUPS } from './groups';
import { MAX_ROWS, toQuery, type ReportState } from './state';

interface ShownReport {
  state: ReportState;
  shown: readonly Figure[];
}

/** Saves all rows of a report and its totals, by the titles that the page has. */
export async function saveReport(api: Api, { state, shown }: ShownReport): Promise<void> {
  const { groups, filters } = state;
  const lines = [toLine([...groups.map((group) => GROUPS[group]), ...shown.map(titleFigure)])];
  const add = (names: readonly string[], figures: Figures) =>
    lines.push(toLine([...names, ...shown.map((figure) => exportFigure(figure, figures))]));
  for (let page = 1; ; page++) {
    const query = { ...toQuery(state), page, per_page: MAX_ROWS };
    const report = await ok(api.GET('/calls/reports/grouped', { params: { query } }));
    for (const row of report.rows) add(row.groups.map(exportGroup), row);
    if (page < report.metadata.total_pages) continue;
    add(['Total', ...groups.slice(1).map(() => '')], report.totals);
    break;
  }
  saveBlob(toCsvFile(lines), nameFile('report', filters, filters.time_zone));
}

const titleFigure = ({ title, unit }: Figure): string => (unit ? `${title} (${unit})` : title);

function exportFigure({ name, cell }: Figure, figures: Figures): string {
  const value = figures[name];
  return value === null ? '' : cell(value);
}
