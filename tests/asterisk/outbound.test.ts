import { waitUntil } from '../sip/support/waiting';
import type { Fields } from '../support/records';
import { ownNumber } from '../support/leads';
import { testScenarios, type AsteriskWorld } from './support/asterisk-world';
import { HUMAN, MACHINE } from '../sip/support/media';

// Calls that the service has Asterisk place (CARRIER=switch), one after the other: the carrier at
// the trunk answers as a person or as a machine.

/** Has a person called for an offer, whose buyer answers. */
async function callPerson(on: AsteriskWorld) {
  await waitUntil(
    'the service hears of the switch',
    async () =>
      ((await on.world.ok('get', 'switches')).switches as Fields[])[0]!.synced_at ?? undefined,
    on.adapter.log,
  );
  const buyer = await on.startUas('answers');
  const { buyer_ids } = await on.openOffer([{ uas: buyer }]);
  const { offers } = await on.world.ok('get', 'offers?order=id&order_dir=desc&per_page=1');
  const offerId = (offers as Fields[])[0]!.id as number;
  await ownNumber(on.world, on.world.company, on.world.nextNumber().slice(1), offerId);
  const order = { to: '+13105550142', offer_id: String(offerId), machine_action: 'hang_up' };
  const { call } = await on.world.ok('post', 'calls', order);
  return { buyer, buyer_ids, id: (call as Fields).uuid as string };
}

const waitForEnd = (on: AsteriskWorld, uuid: string): Promise<Fields> =>
  waitUntil(
    `the end of call ${uuid}`,
    async () => {
      const current = (await on.world.ok('get', `calls/${uuid}`)).call as Fields;
      return current.ended_at === null ? undefined : current;
    },
    on.adapter.log,
  );

const SETTINGS = { side_by_side: false, environment: { CARRIER: 'switch' } };

describe('a person', () => {
  testScenarios(
    {
      'who answers is recognized, and connected to a buyer': async (on) => {
        const { buyer, buyer_ids, id } = await callPerson(on);
        await on.trunk.until('answered');
        await buyer.until('answered');
        await buyer.hangUp(buyer.callIds()[0]!);
        expect(await waitForEnd(on, id)).toMatchObject({
          ...{ status: 'completed', answered_by: 'human', buyer_id: buyer_ids[0] },
          hangup_cause: 'buyer_hung_up',
        });
        await on.trunk.until('was hung up on');
      },
    },
    { ...SETTINGS, trunk_media: HUMAN },
  );
});

describe('a machine', () => {
  testScenarios(
    {
      'that answers is recognized, and hung up on': async (on) => {
        const { buyer, id } = await callPerson(on);
        const call = await waitForEnd(on, id);
        expect(call).toMatchObject({ answered_by: 'machine', buyer_id: null });
        expect(buyer.callIds()).toEqual([]);
        await on.trunk.until('was hung up on');
      },
    },
    { ...SETTINGS, trunk_media: MACHINE },
  );
});
