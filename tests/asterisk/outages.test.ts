import { outageScenarios } from '../sip/support/adapter-outages';
import { waitUntil } from '../sip/support/waiting';
import { testScenarios } from './support/asterisk-world';

testScenarios(
  {
    ...outageScenarios,

    'while the service is away, callers may wait in a queue': async (on) => {
      const { number } = await on.openOffer([{ uas: await on.startUas('answers') }]);
      await on.asterisk.console('dialplan set global OVERFLOW_QUEUE agents');
      await on.service.stop();
      const before = on.overflow.callIds().length;
      const calls = await on.placeCalls({ number });
      await calls.until('answered');
      await waitUntil('an agent answers', () => on.overflow.callIds().length > before || undefined);
      await calls.hangUp();
      await on.service.start();
      expect((await on.waitForCall(calls.ids[0]!)).call).toMatchObject({ buyer_id: null });
      await on.asterisk.console('dialplan set global OVERFLOW_QUEUE ""');
    },
  },
  { side_by_side: false },
);
