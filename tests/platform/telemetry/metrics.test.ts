import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import request from 'supertest';
import { measurements } from '../../../src/main/processes/measure';
import { patient } from '../../support/patience';
import { useWorld } from '../../support/use-world';

// The metrics, the table that explains them and the dashboard that shows them say the same.

const METRICS_TOKEN = 'a-token-of-the-metrics';
const world = useWorld({ environment: { METRICS_TOKEN } });
const { createRecord } = world;
/** Before the traffic, and after it: what counts, counts since the process began. */
let before: string;
let page: string;

/** The page as it is now, with nothing cached. */
const freshPage = () => measurements(world.deps, { max_age_ms: 0 }).page();

const BACKED_UP_AT = new Date('2026-09-15T19:00:00Z');

beforeAll(async () => {
  before = await freshPage();
  await traffic();
  await world.sql(
    `INSERT INTO installations (id, pepper_check, backed_up_at) VALUES (1, '', $1)
    ON CONFLICT (id) DO UPDATE SET backed_up_at = $1`,
    [BACKED_UP_AT],
  );
  page = await freshPage();
});

/** Something of everything that can be measured without waiting for it. */
async function traffic(): Promise<void> {
  const { api } = world.company;
  const offer = await api('post', 'offers', { body: { name: 'Offer' } });
  const buyer = { name: 'Paused', number: '+13105550101', paused: true };
  const { id: buyerId } = (await createRecord('buyers', buyer)) as Id;
  const { id: offerId } = offer.body.offer as Id;
  await api('put', `offers/${offerId}`, { body: { buyer_ids: [buyerId] } });
  const call = { offer_id: offerId, caller_number: '+13105550177' };
  expect((await api('post', 'call_sessions', { body: call })).status).toBe(201);
  await api('get', 'buyers/0');
}

interface Id {
  id: number;
}

/** The value of the only sample that fits; 0 if the page has none. */
const readValue = (text: string, sample: RegExp): number =>
  Number(new RegExp(`${sample.source} (\\S+)`).exec(text)?.[1] ?? 0);

interface Metric {
  type: string;
  labels: Set<string> | undefined;
}

/** The metrics of a page, each with the labels of its samples; undefined if it has none. */
function parseMetrics(text: string): Map<string, Metric> {
  const metrics = new Map<string, Metric>();
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm))
    metrics.set(name!, { type: type!, labels: undefined });
  for (const [, name, labels = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const metric = metrics.get(name!) ?? metrics.get(name!.replace(/_(bucket|count|sum)$/, ''));
    metric!.labels ??= new Set();
    for (const [, label] of labels.matchAll(/(\w+)="/g))
      if (label !== 'le') metric!.labels.add(label!);
  }
  return metrics;
}

const listOwnMetrics = () =>
  [...parseMetrics(page)].filter(([name]) => name.startsWith('trunkline_'));

/** The rows of the table in docs/monitor.md. */
function readDocumented(): Map<string, { type: string; labels: string[] }> {
  const text = readFileSync(join(__dirname, '../../../docs/monitor.md'), 'utf8');
  const [, table] = /^\| metric .*\n\|[ -|:]+\n((?:\|.*\n)+)/m.exec(text)!;
  const rows = table!.trim().split('\n');
  return new Map(
    rows.map((row) => {
      const [, name, type, labels] = row.split('|').map((cell) => cell.trim());
      const inTicks = (cell: string) =>
        [...cell.matchAll(/`([^`]+)`/g)].map(([, content]) => content!);
      return [inTicks(name!)[0]!, { type: type!, labels: inTicks(labels!) }];
    }),
  );
}

test('the table has every metric with its type and labels, and no other', () => {
  const rows = readDocumented();
  const names = [...rows.keys()].filter((name) => !name.endsWith('*'));
  expect(names.toSorted()).toEqual(
    listOwnMetrics()
      .map(([name]) => name)
      .toSorted(),
  );
  for (const [name, { type, labels }] of listOwnMetrics()) {
    expect([name, rows.get(name)!.type]).toEqual([name, type]);
    if (labels) expect([name, [...labels].sort()]).toEqual([name, rows.get(name)!.labels.sort()]);
  }
  // Metrics of Node.js and the system are listed by groups.
  const groups = [...rows.keys()].filter((name) => name.endsWith('*'));
  for (const name of parseMetrics(page).keys())
    if (!name.startsWith('trunkline_'))
      expect(groups.some((group) => name.startsWith(group.slice(0, -1)))).toBe(true);
});

interface Panel {
  type: string;
  datasource?: { uid: string };
  fieldConfig?: { defaults: { thresholds?: { steps: object[] } } };
  targets?: { expr: string; datasource: { uid: string } }[];
}

const dashboard = JSON.parse(
  readFileSync(join(__dirname, '../../../docs/grafana.json'), 'utf8'),
) as {
  templating: { list: { name: string; type: string }[] };
  panels: Panel[];
};
const shownExpressions = dashboard.panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) => expr),
);

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

const { groups } = load(
  readFileSync(join(__dirname, '../../../docs/alert-rules.yaml'), 'utf8'),
) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const expressions = [...shownExpressions, ...rules.map(({ expr }) => expr)];
const findNames = (text: string) => text.match(/\b(trunkline|nodejs|process)_\w+/g) ?? [];

/** The metrics that expressions ask for; each must exist. */
function findMetrics(texts: readonly string[]): Set<string> {
  const metrics = parseMetrics(page);
  const names = texts.flatMap(findNames).map((name) => {
    const base = name.replace(/_(bucket|count|sum)$/, '');
    const isHistogram = metrics.get(base)?.type === 'histogram';
    expect([name, isHistogram ? base !== name : metrics.has(name)]).toEqual([name, true]);
    return isHistogram ? base : name;
  });
  return new Set(names);
}

test('the dashboard shows every metric of ours, and asks for none that does not exist', () => {
  const shown = findMetrics(shownExpressions);
  for (const [name] of listOwnMetrics()) expect(shown).toContain(name);
});

test('every alert asks for metrics that exist, waits, and says how bad it is and what to do', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, expr, labels, annotations, ...rule } of rules) {
    expect([alert, findMetrics([expr]).size > 0 || /^up\{/.test(expr)]).toEqual([alert, true]);
    expect(['page', 'ticket']).toContain(labels.severity);
    expect(rule.for).toMatch(/^\d+m$/);
    expect(Object.keys(annotations)).toEqual(['summary', 'description']);
    // A threshold: without it, it would always be true.
    expect(expr).toMatch(/ (==|>) [\d.]+$/);
  }
});

test('the first row of the dashboard has colours for what is bad', () => {
  const [row, ...others] = dashboard.panels;
  const tiles = others.slice(
    0,
    others.findIndex(({ type }) => type === 'row'),
  );
  expect([row!.type, tiles.length]).toEqual(['row', 8]);
  for (const { type, fieldConfig } of tiles)
    expect([type, fieldConfig!.defaults.thresholds!.steps.length > 0]).toEqual(['stat', true]);
});

test('the dashboard and the alerts group and filter by labels that the metrics have', () => {
  const rows = readDocumented();
  const ofPrometheus = ['le', 'job', 'instance'];
  for (const expr of expressions) {
    const names = findNames(expr).map((name) => name.replace(/_(bucket|count|sum)$/, ''));
    const declaredLabels = names.flatMap((name) => rows.get(name)?.labels ?? []);
    const grouped = [...expr.matchAll(/by \(([\w, ]+)\)/g)].flatMap(([, list]) =>
      list!.split(', '),
    );
    const filtered = [...expr.matchAll(/(\w+)(?:=|!=|=~)"/g)].map(([, label]) => label!);
    for (const label of [...grouped, ...filtered])
      expect([expr, [...declaredLabels, ...ofPrometheus]]).toEqual([
        expr,
        expect.arrayContaining([label]),
      ]);
  }
});

test('every panel reads from the data source that is chosen', () => {
  expect(dashboard.templating.list.map(({ name, type }) => `${type} ${name}`)).toEqual([
    'datasource datasource',
    'query job',
  ]);
  const sources = dashboard.panels.flatMap(({ type, datasource, targets = [] }) =>
    type === 'row' ? [] : [datasource!, ...targets.map((target) => target.datasource)],
  );
  expect(new Set(sources.map(({ uid }) => uid))).toEqual(new Set(['${datasource}']));
});

test('requests and decisions are counted by operation, class and reason', () => {
  const counted = (sample: RegExp) => readValue(page, sample) - readValue(before, sample);
  expect([
    counted(/_count\{operation="createCallSession",method="POST",status_class="2xx"\}/),
    counted(/_count\{operation="showBuyer",method="GET",status_class="4xx"\}/),
    counted(/decisions_total\{action="hang_up",reason="no_buyer_available"\}/),
    counted(/trunkline_routing_buyers_passed_over_total\{reason="paused"\}/),
  ]).toEqual([1, 1, 1, 1]);
});

test('jobs and webhooks that wait are counted, and how long they wait', async () => {
  await world.deps.tenants
    .of(world.company.id)
    .transaction((tx) =>
      world.deps.queue.add(tx, 'forget_number', { company_id: String(world.company.id), id: '1' }),
    );
  await world.sql(`UPDATE jobs.job SET due_at = now() - interval '90 s'
    WHERE name = 'forget_number'`);
  const text = await freshPage();
  expect(text).toContain('trunkline_jobs_waiting{kind="forget_number"} 1');
  const [, age] = /trunkline_jobs_oldest_waiting_seconds\{kind="forget_number"\} (\S+)/.exec(text)!;
  expect(Number(age)).toBeGreaterThanOrEqual(90);
  expect(text).toContain('trunkline_jobs_waiting{kind="send_invitation"} 0');
});

test('the last backup has its time, once there was one', () => {
  expect(before).not.toContain('trunkline_last_backup');
  expect(page).toContain(`trunkline_last_backup_timestamp_seconds ${+BACKED_UP_AT / 1000}\n`);
});

test('without the database, the page says that and what the process knows', async () => {
  const database = {
    ...world.deps.database,
    sql: () => Promise.reject(new Error('no database')),
  };
  const parts = () => [{ ...world.deps, database }];
  const text = await measurements({ ...world.deps, parts }, { max_age_ms: 0 }).page();
  expect(text).toContain('trunkline_database_up 0');
  expect(text).toContain('trunkline_build_info');
  expect(text).not.toContain('trunkline_jobs_waiting{');
});

test(
  'the page over HTTP needs its token',
  async () => {
    const get = (token: string) =>
      request(world.app).get('/metrics').set('Authorization', `Bearer ${token}`);
    expect((await get('another')).status).toBe(401);
    const answer = await get(METRICS_TOKEN);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect([...parseMetrics(answer.text).keys()]).toEqual([...parseMetrics(page).keys()]);
  },
  patient(10_000),
);
