import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';

type Bench = (server: EmbeddedDatabase) => Promise<unknown>;

/** Loaded lazily: with `--compare`, an older commit may lack the imports of another bench. */
export const BENCHES: Record<string, () => Promise<Bench>> = {
  requests: async () => (await import('./requests.js')).benchRequests,
  imports: async () => (await import('./imports.js')).benchImports,
  lookup: async () => (await import('./import-lookup.js')).benchLookup,
  leads: async () => (await import('./leads.js')).benchLeads,
  engine: async () => (await import('./engine.js')).benchEngine,
  'engine-tick': async () => (await import('./engine-tick.js')).benchEngineTick,
  calls: async () => (await import('./calls.js')).benchCalls,
  console: async () => (await import('./console.js')).benchConsole,
  reports: async () => (await import('./reports.js')).benchReports,
  'lead-lists': async () => (await import('./lead-lists.js')).benchLeadLists,
  decisions: async () => (await import('./decisions.js')).benchDecisions,
  sources: async () => (await import('./sources.js')).benchSources,
  zips: async () => (await import('./zips.js')).benchZips,
  bids: async () => (await import('./bids.js')).benchBids,
  events: async () => (await import('./events.js')).benchEvents,
  storm: async () => (await import('./storm.js')).benchStorm,
  arrivals: async () => (await import('./arrivals.js')).benchArrivals,
  teams: async () => (await import('./teams.js')).benchTeams,
  deliveries: async () => (await import('./deliveries.js')).benchDeliveries,
  sip: async () => (await import('./sip.js')).benchSip,
  fleet: async () => (await import('./fleet.js')).benchFleet,
  soak: async () => (await import('./soak.js')).benchSoak,
};

/**
 * Run only by name: `imports` includes the look-up, `soak` takes ten minutes, `fleet` starts many
 * processes, `console` needs Chromium.
 */
const BY_NAME_ONLY = ['lookup', 'soak', 'fleet', 'console'];

/**
 * Returns the benches that `--only` selects: all, the listed ones, or `requests` for a part of a
 * request's name.
 */
export function selectBenches(only: string): string[] {
  if (only === '') return Object.keys(BENCHES).filter((name) => !BY_NAME_ONLY.includes(name));
  const names = only.split(',');
  // Names of requests contain commas, so that the parts need not be benches.
  return names.every((name) => name in BENCHES) ? names : ['requests'];
}
