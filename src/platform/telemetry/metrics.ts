import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

// Metrics of a process. Counters and gauges of several processes add up; metrics of the database
// are read by src/main/processes/database-metrics.ts. Labels have values of closed lists only: none
// names a company, a buyer or a caller.

export const registry = new Registry();
const registers = [registry];

collectDefaultMetrics({ register: registry });

export const buildInfo = new Gauge({
  name: 'trunkline_build_info',
  help: 'Always 1; the label is the version.',
  labelNames: ['version'],
  aggregator: 'first',
  registers,
});

export const processes = new Gauge({
  name: 'trunkline_processes',
  help: 'Processes of this server by role.',
  labelNames: ['role'],
  registers,
});

export const requests = new Histogram({
  name: 'trunkline_http_request_duration_seconds',
  help: 'Time from the first byte of a request to the last of its answer.',
  labelNames: ['operation', 'method', 'status_class'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  registers,
});

export const eventStreams = new Gauge({
  name: 'trunkline_event_streams_open',
  help: 'Event streams of agents that are open.',
  registers,
});

export const routingDecisions = new Counter({
  name: 'trunkline_routing_decisions_total',
  help: 'Routing decisions that were recorded, by action and by the reason why none is dialed.',
  labelNames: ['action', 'reason'],
  registers,
});

export const buyersPassedOver = new Counter({
  name: 'trunkline_routing_buyers_passed_over_total',
  help: 'Buyers that a recorded routing decision passed over, by reason.',
  labelNames: ['reason'],
  registers,
});

export const refusedReservations = new Counter({
  name: 'trunkline_cap_reservations_refused_total',
  help: 'Reservations refused because another call took the last room of a cap first.',
  labelNames: ['cap'],
  registers,
});

export const jobRuns = new Histogram({
  name: 'trunkline_job_duration_seconds',
  help: 'Time that runs of jobs took, by kind and result.',
  labelNames: ['kind', 'result'],
  buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120, 600],
  registers,
});

export const importsRunning = new Gauge({
  name: 'trunkline_imports_running',
  help: 'Suppression files that are being imported.',
  registers,
});

export const importedRows = new Counter({
  name: 'trunkline_import_rows_total',
  help: 'Rows of suppression files that were written, by result.',
  labelNames: ['result'],
  registers,
});

export const webhookAttempts = new Histogram({
  name: 'trunkline_webhook_attempt_duration_seconds',
  help: 'Time that attempts to deliver webhooks took, by result.',
  labelNames: ['result'],
  buckets: [0.01, 0.05, 0.1, 0.25, 1, 2.5, 10, 30],
  registers,
});

// Counters start at 0: a rate has no gap before the first event.
importsRunning.set(0);
eventStreams.set(0);
for (const result of ['imported', 'rejected']) importedRows.inc({ result }, 0);
