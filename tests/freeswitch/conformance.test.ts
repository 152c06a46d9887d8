import { listFailures, startWithAdapter } from '../sip/support/conformance';
import { missingPrograms } from '../sip/support/programs';
import { missingFreeswitch, startFreeswitch } from './support/freeswitch';
import { buildAdapter } from './support/freeswitch-world';

const missing = missingPrograms() ?? missingFreeswitch();

(missing ? test.skip : test)('the adapter of FreeSWITCH does what the checklist says', async () => {
  const start = startWithAdapter(
    ({ port, address }) => startFreeswitch({ trunk: port, overflow: address }),
    buildAdapter,
  );
  expect(await listFailures(start)).toEqual([
    ['a trunk that fails is followed by the next', 'not_seen', expect.any(String)],
    ['a person is called once', 'not_seen', expect.any(String)],
  ]);
});
