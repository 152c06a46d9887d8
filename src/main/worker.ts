import { loadConfig } from './config';
import { giveWay } from '../data/postgres/lower-priority';
import { openConfiguredStorage } from '../operate/installation/deps';
import { openInstallation } from '../operate/installation/open';
import { startJobs } from './background/start';
import { exitWith, onStop, toTracingOptions } from './background/process';
import { startTracing } from '../platform/telemetry/tracing';
import type { Config } from '../platform/config';
import type { Deps } from '../domain/deps';
import { checkAddress, listen, type Address } from '../operate/installation/listen';
import { processes } from '../platform/telemetry/metrics';
import { createWorkerApp } from './http-app';
import { httpServer, type HttpServer } from './processes/http-server';

/**
 * A process that only runs background jobs; servers leave them to it with RUN_JOBS=false. Where
 * both share a processor, it gives way to them. With WORKER_METRICS_PORT it serves its health and
 * metrics. Throws if the start is refused.
 */
export async function runWorker(environment?: NodeJS.ProcessEnv): Promise<void> {
  const config = loadConfig(environment);
  startTracing(toTracingOptions(config));
  processes.set({ role: 'worker' }, 1);
  const address = toAddress(config);
  if (address) await checkAddress(address);
  if (config.s3) await openConfiguredStorage(config).check();
  const installation = await openInstallation(config, {
    kind: 'worker',
    in_background: true,
  });
  const { deps } = installation;
  giveWay();
  const start = async () => ({
    http: address && (await serveMonitoring(deps, address)),
    jobs: await startJobs(deps),
  });
  const starting = start();
  onStop(deps, async () => {
    const { http, jobs } = await starting;
    http?.closeConnections();
    await Promise.all([http?.stop(), jobs.stop()]);
    await installation.close();
  });
  await starting;
  process.stdout.write('Trunkline runs jobs.\n');
}

/** Where it serves its health and metrics; undefined: nowhere. */
const toAddress = ({ host, worker_metrics_port: port }: Config): Address | undefined =>
  port === undefined ? undefined : { host, port, port_variable: 'WORKER_METRICS_PORT' };

async function serveMonitoring(deps: Deps, address: Address): Promise<HttpServer> {
  const http = httpServer(deps, createWorkerApp(deps));
  await listen(http.server, address);
  return http;
}

if (require.main === module) runWorker().catch(exitWith);
