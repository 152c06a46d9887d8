import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Line {
  line: string;
  value: number;
  unit: string;
  better: 'higher' | 'lower';
}

type Row = Record<string, string | number | undefined>;
interface Report {
  report: Row[];
}

interface Source {
  /** The report of the bench, below .bench. */
  file: string;
  lines(report: Report): Line[];
}

const perSecond = (line: string, value: unknown): Line => ({
  line,
  value: Number(value),
  unit: '/s',
  better: 'higher',
});
const lower = (line: string, value: unknown, unit = ' ms'): Line => ({
  line,
  value: Number(value),
  unit,
  better: 'lower',
});

/** Requests a second under full load, else the median latency. */
const decisionLines = ({ report }: Report): Line[] =>
  report.flatMap((row) => {
    const what = String(row.what);
    if (what.startsWith('floor')) return [];
    if (what.endsWith('a second')) return [lower(`${what}, p50`, row.p50_ms)];
    return [perSecond(what, row.req_s), ...cpuLines(what, row)];
  });

/** CPU time of service and database together, which varies least on a busy machine. */
const cpuLines = (what: string, row: Row): Line[] => [
  lower(`${what}, CPU`, Number(row.cpu_service_ms) + Number(row.cpu_database_ms)),
];

const selectServiceRows = ({ report }: Report): Row[] =>
  report.filter(({ contender }) => contender === 'trunkline');

const SOURCES: Record<string, Source> = {
  requests: {
    file: 'report.json',
    lines: (report) =>
      selectServiceRows(report).map(({ work, buyers, req_s }) =>
        perSecond(`${work}, ${Number(buyers).toLocaleString('en')} buyers`, req_s),
      ),
  },
  decisions: { file: 'decisions.json', lines: decisionLines },
  events: {
    file: 'events.json',
    lines: ({ report: [row] }) => [
      perSecond(String(row!.what), row!.events_s),
      ...cpuLines('events of a call', row!),
    ],
  },
  leads: {
    file: 'leads.json',
    lines: (report) =>
      selectServiceRows(report).map(({ mix, req_s }) => perSecond(`submissions, ${mix}`, req_s)),
  },
  calls: {
    file: 'calls-lists.json',
    lines: ({ report }) => report.map(({ query, p50_ms }) => lower(`calls?${query}, p50`, p50_ms)),
  },
  'lead-lists': {
    file: 'leads-lists.json',
    lines: ({ report }) => report.map(({ query, p50_ms }) => lower(`leads?${query}, p50`, p50_ms)),
  },
  engine: {
    file: 'engine.json',
    lines: ({ report }) =>
      report.map(({ workers, steps_s }) => perSecond(`steps, ${workers} workers`, steps_s)),
  },
};

export const isComparable = (bench: string): boolean => bench in SOURCES;
export const COMPARABLE = Object.keys(SOURCES);

export const readReport = <T>(folder: string, file: string): T =>
  JSON.parse(readFileSync(join(folder, '.bench', file), 'utf8')) as T;

export const readLines = (bench: string, folder: string): Line[] =>
  SOURCES[bench]!.lines(readReport(folder, SOURCES[bench]!.file));
