import { writeFileSync } from 'node:fs';
import { readReport } from './lines';
import { readOptions, runBench, type Options } from './runs';
import { option, round, say } from './tools';
import { build } from './trees';

// The speed table of docs/performance.md, from one run of all the benches that it needs.

type Row = Record<string, string | number>;

interface Report {
  report: Row[];
  of_floor?: number;
  large_of_small?: number;
  api?: { ratio: number };
  large?: { peak_mb: number };
}

/** Settings that keep the run short; three turns each. */
const RUNS: Record<string, { file: string; options: Options }> = {
  decisions: { file: 'decisions.json', options: { seconds: '5' } },
  events: { file: 'events.json', options: {} },
  requests: { file: 'report.json', options: { seconds: '3', sizes: '10000' } },
  leads: { file: 'leads.json', options: { seconds: '3' } },
  imports: { file: 'imports.json', options: { lookup: 'no' } },
  engine: { file: 'engine.json', options: { leads: '40000' } },
  calls: { file: 'calls-lists.json', options: { seconds: '3' } },
  'lead-lists': { file: 'leads-lists.json', options: { seconds: '2' } },
};

interface Figure {
  work: string;
  value: number;
  unit: string;
  target: number;
  better: 'higher' | 'lower';
}

type Reports = Map<string, Report>;

/** Reads a figure from the reports; undefined when its bench has not run. */
type Source = (reports: Reports) => Figure | undefined;

interface Line {
  work: string;
  bench: string;
  target: number;
  unit?: string;
  better?: 'higher' | 'lower';
  value(report: Report): number | undefined;
}

const createSource =
  ({ work, bench, target, unit = '', better = 'higher', value }: Line): Source =>
  (reports) => {
    const report = reports.get(bench);
    const measuredValue = report && value(report);
    return measuredValue === undefined
      ? undefined
      : { work, value: measuredValue, unit, target, better };
  };

const selectRow = ({ report }: Report, criteria: Row): Row | undefined =>
  report.find((row) => Object.entries(criteria).every(([name, value]) => row[name] === value));

const readNumber = (report: Report, criteria: Row, name: string): number | undefined => {
  const row = selectRow(report, criteria);
  return row && Number(row[name]);
};

const createLatencySource = (
  bench: string,
  work: string,
  target: number,
  value: Line['value'],
): Source => createSource({ work, bench, target, unit: ' ms', better: 'lower', value });

/** Requests a second of the service, divided by those of `contender`. */
const ratioAgainst =
  (contender: string, criteria: Row, ownContender = 'trunkline'): Line['value'] =>
  (report) => {
    const service = readNumber(report, { ...criteria, contender: ownContender }, 'req_s');
    const rival = readNumber(report, { ...criteria, contender }, 'req_s');
    return service === undefined || !rival ? undefined : round(service / rival);
  };

const createRequestSource = (
  work: string,
  line: string,
  contender: string,
  target: number,
): Source =>
  createSource({ work: line, bench: 'requests', target, value: ratioAgainst(contender, { work }) });

const createListSource = (bench: string, pattern: RegExp, line: string): Source =>
  createLatencySource(bench, line, 50, ({ report }) => {
    const matches = report.filter((row) => pattern.test(String(row.query)));
    return matches.length === 0
      ? undefined
      : Math.max(...matches.map(({ p99_ms }) => Number(p99_ms)));
  });

const FLOOR = 'floor';
const USUAL = 'fastify+prisma';
/** A write with the change log on both sides, and without it on both sides. */
const createLoggedSources = (work: string, line: string): Source[] => [
  createSource({
    work: `${line}, both with the change log`,
    bench: 'requests',
    target: 2,
    value: ratioAgainst('fastify, logging', { work }),
  }),
  createSource({
    work: `${line}, both without`,
    bench: 'requests',
    target: 2,
    value: ratioAgainst(USUAL, { work }, 'without the log'),
  }),
];
const SOURCES: Source[] = [
  createSource({
    work: 'decisions, 1,000 buyers, 16 connections, of the floor',
    bench: 'decisions',
    target: 0.5,
    value: ({ of_floor }) => of_floor,
  }),
  createLatencySource('decisions', 'decisions, 50 a second, p99', 10, (report) =>
    readNumber(report, { what: 'decisions, 1,000 buyers, 50 a second' }, 'p99_ms'),
  ),
  createLatencySource('decisions', 'explanations, 50 a second, p99', 15, (report) =>
    readNumber(report, { what: 'explanations, 1,000 buyers, 50 a second' }, 'p99_ms'),
  ),
  createSource({
    work: 'one after the other, 10,000 buyers against 10',
    bench: 'decisions',
    target: 1.5,
    unit: ' ×',
    better: 'lower',
    value: ({ large_of_small }) => large_of_small,
  }),
  createSource({
    work: 'events of a call, of a floor with the same writes',
    bench: 'events',
    target: 0.5,
    value: ({ of_floor }) => of_floor,
  }),
  createRequestSource('update', 'PUT buyer, of the floor', FLOOR, 0.6),
  ...createLoggedSources('update', 'PUT buyer × fastify + Prisma'),
  ...createLoggedSources('create', 'POST buyer × fastify + Prisma'),
  createRequestSource('list, all columns', 'list, all columns, of the floor', FLOOR, 0.9),
  createRequestSource(
    'list, columns=id,name,number,paused',
    'list, four columns, of the floor',
    FLOOR,
    0.65,
  ),
  createRequestSource('show', 'show, of the floor', FLOOR, 0.8),
  createRequestSource('no data (GET /me)', 'GET /me, of bare node:http', FLOOR, 0.4),
  createSource({
    work: 'API p99 beside an import',
    bench: 'imports',
    target: 2,
    unit: ' ×',
    better: 'lower',
    value: ({ api }) => api?.ratio,
  }),
  createSource({
    work: 'API p99 beside two workers',
    bench: 'engine',
    target: 2,
    unit: ' ×',
    better: 'lower',
    value: (report) => readNumber(report, { workers: 2 }, 'ratio'),
  }),
  createSource({
    work: 'import of 10,000,000: memory at most',
    bench: 'imports',
    target: 300,
    unit: ' MB',
    better: 'lower',
    value: ({ large }) => large?.peak_mb,
  }),
  createListSource('calls', /^status=no_answer$/, 'calls: status of 700,000, p99'),
  createListSource(
    'calls',
    /^offer_id=\d+&buyer_converted=true$/,
    'calls: offer and converted, p99',
  ),
  createListSource('calls', /^token_key=state&token_value=/, 'calls: token of 100,000, p99'),
  createListSource('calls', /^created_at_from/, 'calls: a day, p99'),
  createListSource('lead-lists', /has_next_action/, 'leads: has_next_action, p99'),
  createListSource('lead-lists', /^next_action_at_/, 'leads: next_action_at_*, p99'),
  createListSource('lead-lists', /^order=/, 'leads: every order, p99 of the slowest'),
  createSource({
    work: 'submissions of leads, new, of the floor',
    bench: 'leads',
    target: 0.8,
    value: ratioAgainst(FLOOR, { mix: 'new leads' }),
  }),
  createSource({
    work: 'submissions of leads, 30% repeats, of the floor',
    bench: 'leads',
    target: 0.8,
    value: ratioAgainst(FLOOR, { mix: '30% repeats' }),
  }),
];

const isReached = ({ value, target, better }: Figure): boolean =>
  better === 'higher' ? value >= target : value <= target;

function print(figures: Figure[]): void {
  say('| work | measured | to reach | |');
  say('| --- | ---: | ---: | --- |');
  for (const figure of figures) {
    const { work, value, unit, target, better } = figure;
    const sign = better === 'higher' ? '≥' : '≤';
    say(
      `| ${work} | ${value}${unit} | ${sign} ${target}${unit} | ` +
        `${isReached(figure) ? 'reached' : 'missed'} |`,
    );
  }
}

/** Runs the benches, or only those of `--benches a,b`, and prints the table. */
export async function benchTable(): Promise<void> {
  build('.');
  const requestedBenches = option('benches', Object.keys(RUNS).join(',')).split(',');
  const reports: Reports = new Map();
  const minutes: number[] = [];
  for (const [bench, { file, options }] of Object.entries(RUNS)) {
    if (!requestedBenches.includes(bench)) continue;
    const started = performance.now();
    const benchOptions = readOptions({ rounds: '3', ...options }, ['only', 'benches']);
    await runBench({ name: 'this tree', folder: '.' }, bench, {
      options: benchOptions,
      show: true,
    });
    reports.set(bench, readReport<Report>('.', file));
    minutes.push((performance.now() - started) / 60_000);
    say(`${bench} took ${round(minutes.at(-1)!, 1)} minutes`);
  }
  const figures = SOURCES.flatMap((read) => read(reports) ?? []);
  print(figures);
  const total = round(
    minutes.reduce((sum, duration) => sum + duration, 0),
    1,
  );
  say(`medians of ${option('rounds', '3')} turns; ${total} minutes in all`);
  writeFileSync('.bench/table.json', JSON.stringify({ minutes: total, figures }, null, 2));
}
