import {
  findFullPart,
  countOperations,
  plan,
  predict,
  type Costs,
} from '../../scripts/bench/fleet-model';

// Hardware that a day of traffic needs, by the cost of each operation.

const COSTS: Costs = {
  operations: {
    'begin a call': { api_ms: 1, workers_ms: 0, database_ms: 2, bytes: 4_000 },
    'event of a call': { api_ms: 0.5, workers_ms: 0, database_ms: 1 },
    'deliver a webhook': { api_ms: 0, workers_ms: 1, database_ms: 1, bytes: 1_000 },
    'submit a lead': { api_ms: 0.5, workers_ms: 0, database_ms: 0.5, bytes: 1_000 },
    'text a lead': { api_ms: 0, workers_ms: 0.5, database_ms: 1, bytes: 500 },
    'import a number': { api_ms: 0, workers_ms: 0.001, database_ms: 0.002, bytes: 50 },
    'show a buyer': { api_ms: 0.25, workers_ms: 0, database_ms: 0.25 },
    report: { api_ms: 1, workers_ms: 0, database_ms: 20 },
  },
  idle: { api: 0.01, workers: 0.02, database: 0.03 },
  events_of_call: 3,
  session_mb: 5,
  api_mb: 300,
  worker_mb: 200,
};
const ASSUMPTIONS = { peak: 2, utilisation: 0.5, node_cores: 8, recent_days: 2 };
const READS = { 'show a buyer': 3, report: 1 };

test('the processor time of a load is that of its operations, and that of waiting', () => {
  const counts = { 'begin a call': 1_000, 'text a lead': 2_000 };
  const predicted = predict(COSTS, counts, { seconds: 10, fleet: { api: 2, workers: 1 } });
  expect(predicted.api).toBeCloseTo(1 + 2 * 0.01 * 10);
  expect(predicted.workers).toBeCloseTo(1 + 0.02 * 10);
  expect(predicted.database).toBeCloseTo(2 + 2 + 0.03 * 10);
});

test('an operation without a measured cost is refused', () => {
  const counts = { 'send a fax': 1 };
  expect(() => predict(COSTS, counts, { seconds: 1, fleet: { api: 1, workers: 1 } })).toThrow(
    'what send a fax costs was not measured',
  );
});

test('a day is made of calls with their events and webhooks, leads with a text, and reads', () => {
  const day = { calls: 10, leads: 20, numbers: 1_000, reads: 8 };
  expect(countOperations(day, { events_of_call: 3, reads: READS })).toEqual({
    'begin a call': 10,
    'event of a call': 30,
    'deliver a webhook': 10,
    'submit a lead': 20,
    'text a lead': 20,
    'import a number': 1_000,
    'show a buyer': 6,
    report: 2,
  });
});

const DAY = { calls: 8_640_000, leads: 0, numbers: 0, reads: 0 };
const buildPlan = (times = 1, assumptions = ASSUMPTIONS) =>
  plan(
    countOperations(
      { ...DAY, calls: DAY.calls * times },
      { events_of_call: COSTS.events_of_call, reads: READS },
    ),
    COSTS,
    assumptions,
  );

test('a plan leaves the share free that is not to be used in the busiest hour', () => {
  const { rates, busy, processes, workers, database_cores, cells, disk_gb } = buildPlan();
  // 100 calls a second on average, 200 in the busiest hour.
  expect(rates['begin a call']).toBeCloseTo(200);
  // 200 × (1 + 3 × 0.5) ms; a process may use 0.5 cores, of which waiting takes 0.01.
  expect(processes).toBe(2);
  expect(busy.api).toBeCloseTo(0.5 + 2 * 0.01);
  expect(workers).toBe(1);
  // 200 × (2 + 3 × 1 + 1) ms, and waiting.
  expect(busy.database).toBeCloseTo(1.23);
  expect(database_cores).toBe(3);
  expect(cells).toBe(1);
  expect(disk_gb).toBeCloseTo(8.64 * 5);
});

test('more than the largest PostgreSQL can do is spread over cells', () => {
  const { database_cores, cells } = buildPlan(10);
  expect(database_cores).toBe(25);
  expect(cells).toBe(4);
  expect(buildPlan(10, { ...ASSUMPTIONS, node_cores: 32 }).cells).toBe(1);
});

test('memory holds the records of recent days, and sessions of every process', () => {
  const two = buildPlan();
  const ten = buildPlan(1, { ...ASSUMPTIONS, recent_days: 10 });
  expect(ten.memory_gb - two.memory_gb).toBeCloseTo(8 * 8.64 * 5);
});

test('the part that is full is named, a process before the machine', () => {
  const spent = { seconds: 10, api: 4, workers: 0, load: 2, machine: 14 };
  const fleet = { api: 1, workers: 0 };
  const full = (overrides: Partial<typeof spent>, cores = 4) =>
    findFullPart({ ...spent, ...overrides }, { cores, fleet });
  expect(full({})).toBe('nothing');
  expect(full({ api: 9.5 })).toBe('API processes');
  expect(full({ api: 9.5, machine: 40 })).toBe('API processes');
  expect(full({ machine: 19 }, 2)).toBe('the machine');
  expect(full({ load: 9.9, machine: 19 }, 2)).toBe('the load');
  expect(findFullPart({ ...spent, workers: 19 }, { cores: 4, fleet: { api: 1, workers: 2 } })).toBe(
    'workers',
  );
});
