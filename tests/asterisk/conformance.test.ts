import { ADAPTER } from '../support/conformance';
import { startAdapter } from '../sip/support/adapter-world';
import { listFailures } from '../sip/support/conformance';
import { missingPrograms } from '../sip/support/programs';
import { missingAsterisk, startAsterisk } from './support/asterisk';
import { buildAdapter } from './support/asterisk-world';

const missing = missingPrograms() ?? missingAsterisk();

(missing ? test.skip : test)('the adapter of Asterisk does what the checklist says', async () => {
  const failures = await listFailures(
    async ({ api, carrier, world }) => {
      const sides = { trunk: carrier.port, overflow: `PJSIP/sip/${carrier.address}` };
      const asterisk = await startAsterisk(sides);
      world.closeLater(asterisk.stop);
      const args = ['--url', api.origin, '--switch', ADAPTER.name];
      const adapter = await startAdapter(buildAdapter(asterisk), { args, key: ADAPTER.key });
      world.closeLater(adapter.kill);
      const restart = async () => {
        await adapter.kill();
        await adapter.start();
      };
      return { sip_port: asterisk.sip_port, restart };
    },
    { places_calls: true },
  );
  expect(failures).toEqual([
    ['a trunk that fails is followed by the next', 'not_seen', expect.any(String)],
  ]);
});
