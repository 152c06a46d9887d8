import {
  openAdapterWorld,
  type AdapterProcess,
  type AdapterWorld,
} from '../../sip/support/adapter-world';
import { missingPrograms } from '../../sip/support/programs';
import { testTogether } from '../../sip/support/scenarios';
import { missingFreeswitch, startFreeswitch, type Freeswitch } from './freeswitch';

/** A company, the service, FreeSWITCH with the files of the example, and the adapter. */
export type FreeswitchWorld = AdapterWorld<Freeswitch>;

export const buildAdapter = (started: Freeswitch): AdapterProcess => ({
  args: () => [
    ...['freeswitch', '--listen', `127.0.0.1:${started.adapter_port}`],
    ...['--event-socket', `127.0.0.1:${started.socket_port}`],
    ...['--recordings-dir', started.recordings_dir],
  ],
  environment: {
    FREESWITCH_HTTAPI_KEY: started.httapi_key,
    FREESWITCH_SOCKET_PASSWORD: started.socket_password,
  },
  connected: 'connected to FreeSWITCH',
});

const openFreeswitchWorld = (): Promise<FreeswitchWorld> =>
  openAdapterWorld({
    name: 'freeswitch-1',
    start: ({ trunk, overflow }) =>
      startFreeswitch({ trunk: trunk.port, overflow: overflow.address }),
    adapter: buildAdapter,
  });

/** Registers tests of calls by FreeSWITCH. */
export const testScenarios = (
  scenarios: Record<string, (on: FreeswitchWorld) => Promise<void>>,
  options: { side_by_side: boolean },
): void =>
  testTogether(scenarios, {
    ...options,
    title: 'calls by FreeSWITCH',
    missing: missingPrograms() ?? missingFreeswitch(),
    open: openFreeswitchWorld,
    close: ({ world }) => world.close(),
    listLogs: ({ adapter, started }) => [adapter.log(), started.log()],
  });
