import { freePort } from '../../support/process';
import {
  openAdapterWorld,
  type AdapterProcess,
  type AdapterWorld,
} from '../../sip/support/adapter-world';
import { missingPrograms } from '../../sip/support/programs';
import { testTogether } from '../../sip/support/scenarios';
import type { Media } from '../../sip/support/sipp';
import { missingAsterisk, startAsterisk, type Asterisk } from './asterisk';

/** A company, the service, Asterisk with the files of the example, and the adapter between them. */
export type AsteriskWorld = AdapterWorld<Asterisk> & { asterisk: Asterisk };

export interface AsteriskWorldOptions {
  /** Asterisk connects to the adapter. */
  outbound_socket?: boolean;
  environment?: Record<string, string>;
  /** The carrier speaks so when it answers. */
  trunk_media?: Media;
}

/** `port`: Asterisk connects to the adapter there. */
export const buildAdapter = (asterisk: Asterisk, port?: number): AdapterProcess => ({
  args: () => [
    ...['asterisk', '--dial-sip', 'PJSIP/sip/{uri}'],
    ...(port === undefined
      ? ['--ari-url', asterisk.ari_url]
      : ['--listen', `127.0.0.1:${port}`, '--recordings-dir', asterisk.recordings_dir]),
  ],
  environment: { ASTERISK_ARI_KEY: asterisk.ari_key },
  connected: 'connected to Asterisk',
});

export async function openAsteriskWorld(
  options: AsteriskWorldOptions = {},
): Promise<AsteriskWorld> {
  const port = options.outbound_socket ? await freePort() : undefined;
  const opened = await openAdapterWorld({
    name: 'asterisk-1',
    start: ({ trunk, overflow }) =>
      startAsterisk({
        ...{ trunk: trunk.port, overflow: `PJSIP/sip/${overflow.address}` },
        ...(port !== undefined && { adapter: port }),
      }),
    adapter: (asterisk) => buildAdapter(asterisk, port),
    environment: options.environment,
    trunk_media: options.trunk_media,
  });
  return { ...opened, asterisk: opened.started };
}

/** Registers tests of calls by Asterisk. */
export const testScenarios = (
  scenarios: Record<string, (on: AsteriskWorld) => Promise<void>>,
  { side_by_side, ...options }: { side_by_side: boolean } & AsteriskWorldOptions,
): void =>
  testTogether(scenarios, {
    title: 'calls by Asterisk',
    missing: missingPrograms() ?? missingAsterisk(),
    side_by_side,
    open: () => openAsteriskWorld(options),
    close: ({ world }) => world.close(),
    listLogs: ({ adapter, asterisk }) => [adapter.log(), asterisk.log()],
  });
