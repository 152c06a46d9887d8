import { listFailures, startWithAdapter } from '../sip/support/conformance';
import { missingPrograms } from '../sip/support/programs';
import { missingAsterisk, startAsterisk } from './support/asterisk';
import { buildAdapter } from './support/asterisk-world';

const missing = missingPrograms() ?? missingAsterisk();

(missing ? test.skip : test)('the adapter of Asterisk does what the checklist says', async () => {
  const start = startWithAdapter(
    ({ port, address }) => startAsterisk({ trunk: port, overflow: `PJSIP/sip/${address}` }),
    buildAdapter,
  );
  expect(
    await listFailures(start, {
      places_calls: true,
    }),
  ).toEqual([['a trunk that fails is followed by the next', 'not_seen', expect.any(String)]]);
});
