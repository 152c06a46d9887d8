import { countOperations, plan, type Costs, type Counts, type Parts } from './fleet-model';
import { formatTable } from './fleet-world';
import { RATES } from './soak-load';
import { option, round, say } from './tools';

// Prints the hardware for the day that the options describe.

const readNumberOption = (name: string, usual: number) => Number(option(name, String(usual)));
const DAY = {
  calls: readNumberOption('calls-a-day', 1_000_000),
  leads: readNumberOption('leads-a-day', 2_000_000),
  numbers: readNumberOption('numbers-a-day', 10_000_000),
  reads: readNumberOption('reads-a-day', 5_000_000),
};
const ASSUMPTIONS = {
  peak: readNumberOption('peak', 3),
  utilisation: readNumberOption('utilisation', 0.6),
  node_cores: readNumberOption('node-cores', 32),
  recent_days: readNumberOption('recent-days', 1),
};
/** Reads are mixed as in the load of scripts/bench/soak-load.ts. */
const READS: Counts = Object.fromEntries(
  (['list calls', 'list leads', 'list buyers', 'show a buyer', 'report'] as const).map((kind) => [
    kind,
    RATES[kind],
  ]),
);

export function printPlan(costs: Costs): void {
  const { peak, utilisation, node_cores, recent_days } = ASSUMPTIONS;
  say(
    `\nWhat a day needs, with ${peak} times the average in its busiest hour, ` +
      `${utilisation * 100}% of a core used then, nodes of ${node_cores} cores, and the records ` +
      `of ${recent_days} days in memory:\n`,
  );
  const cores = ({ api, workers, database }: Parts) =>
    [api, workers, database].map((n) => round(n, 1)).join(' + ');
  const rows = [0.1, 1, 10].map((times) => {
    const [calls, leads, numbers, reads] = [DAY.calls, DAY.leads, DAY.numbers, DAY.reads].map(
      (n) => n * times,
    ) as [number, number, number, number];
    const counts = countOperations(
      { calls, leads, numbers, reads },
      { events_of_call: costs.events_of_call, reads: READS },
    );
    const needed = plan(counts, costs, ASSUMPTIONS);
    return [
      ...[calls, leads, numbers, reads].map((n) => n.toLocaleString('en')),
      cores(needed.busy),
      needed.processes,
      needed.workers,
      needed.database_cores,
      Math.ceil(needed.memory_gb),
      round(needed.disk_gb, 1),
      needed.cells,
    ];
  });
  const day = ['calls', 'leads', 'numbers', 'reads', 'busy: API + workers + database'];
  const hardware = ['API processes', 'workers', 'PostgreSQL cores', 'GB of memory'];
  say(formatTable([...day, ...hardware, 'GB a day', 'cells'], rows));
}
