import { ADAPTER } from '../support/conformance';
import { listFailures } from './support/conformance';
import { startKamailio } from './support/kamailio';
import { missingPrograms } from './support/programs';

/** Kamailio has no disk for events: the sync of its next process ends such calls. */
const LOST = 'an end is reported by the next process';

const missing = missingPrograms();

(missing ? test.skip : test)(
  'the Kamailio of the example does what the checklist says',
  async () => {
    const failures = await listFailures(
      async ({ api, carrier, world }) => {
        const kamailio = await startKamailio({
          ...{ API: api.href, SWITCH: ADAPTER.name, SYNC_SECONDS: 2 },
          ...{ OVERFLOW_URI: carrier.address, GATEWAY: `127.0.0.1:${carrier.port}` },
        });
        world.closeLater(kamailio.stop);
        return { sip_port: kamailio.port, restart: kamailio.restart };
      },
      { omitted: [LOST], has_hosts: true },
    );
    expect(failures).toEqual([
      ['keys are played to the buyer', 'failed', expect.stringContaining('without media')],
      ['a person is called once', 'not_seen', expect.any(String)],
    ]);
  },
);
