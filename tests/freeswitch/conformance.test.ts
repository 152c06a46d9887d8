import { ADAPTER } from '../support/conformance';
import { startAdapter } from '../sip/support/adapter-world';
import { listFailures } from '../sip/support/conformance';
import { missingPrograms } from '../sip/support/programs';
import { missingFreeswitch, startFreeswitch } from './support/freeswitch';
import { buildAdapter } from './support/freeswitch-world';

const missing = missingPrograms() ?? missingFreeswitch();

(missing ? test.skip : test)('the adapter of FreeSWITCH does what the checklist says', async () => {
  const failures = await listFailures(async ({ api, carrier, world }) => {
    const sides = { trunk: carrier.port, overflow: carrier.address };
    const freeswitch = await startFreeswitch(sides);
    world.closeLater(freeswitch.stop);
    const args = ['--url', api.origin, '--switch', ADAPTER.name];
    const adapter = await startAdapter(buildAdapter(freeswitch), { args, key: ADAPTER.key });
    world.closeLater(adapter.kill);
    const restart = async () => {
      await adapter.kill();
      await adapter.start();
    };
    return { sip_port: freeswitch.sip_port, restart };
  }, {});
  expect(failures).toEqual([
    ['a trunk that fails is followed by the next', 'not_seen', expect.any(String)],
    ['a person is called once', 'not_seen', expect.any(String)],
  ]);
});
