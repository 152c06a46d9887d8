import { contract, facets } from '../../../src/platform/contract/contract';
import { createPartner } from '../../support/partner';
import { REFUSED } from '../../support/refused-destinations';
import { useWorld } from '../../support/use-world';
import type { Api } from '../../support/world';

// The company pays for its calls. A user of a partner who names where they go stays within the
// countries, rates and SIP hosts that the company allows.

const world = useWorld({ fresh: 'company' });
const { ok, create } = world;

describe('a user who is limited to records of teams', () => {
  /** The operations whose body has a destination, and how each is sent. */
  const WRITES: Record<string, [field: string, send: (by: Api, to: string) => ReturnType<Api>]> = {
    createBuyer: ['number', (by, number) => by('post', 'buyers', { body: { name: 'B', number } })],
    updateBuyer: [
      'number',
      (by, number) => by('put', `buyers/${records.buyer}`, { body: { number } }),
    ],
    createOffer: [
      'fallback_number',
      (by, to) =>
        by('post', 'offers', {
          body: { name: 'O', fallback_type: 'number', fallback_number: to },
        }),
    ],
    updateOffer: [
      'fallback_number',
      (by, to) =>
        by('put', `offers/${records.offer}`, {
          body: { fallback_type: 'number', fallback_number: to },
        }),
    ],
    createScheduleAction: [
      'connect_to',
      (by, to) =>
        by('post', 'schedule_actions', {
          body: { schedule_id: records.schedule, action_type: 'dial', connect_to: to },
        }),
    ],
    updateScheduleAction: [
      'connect_to',
      (by, to) => by('put', `schedule_actions/${records.action}`, { body: { connect_to: to } }),
    ],
  };
  let records: { buyer: number; offer: number; schedule: number; action: number };
  let partner: Api;
  beforeEach(async () => {
    const created = await createPartner(world);
    const { buyer: granted, offer } = created;
    const schedule = await create('schedules', { name: 'S', offer_id: offer });
    partner = created.partner.api;
    const dial = { action_type: 'dial', connect_to: '+13105550188' };
    const action = await create('schedule_actions', { schedule_id: schedule, ...dial });
    records = { buyer: granted, offer, schedule, action };
  });

  test('has these fields alone for destinations', () => {
    const declaredFields = contract.operations.flatMap(({ id, body, scope }) =>
      Object.entries(body && !scope?.endsWith(':read') ? facets(body).properties : {}).flatMap(
        ([field, schema]) => (facets(schema).formats.has('call-destination') ? [[id, field]] : []),
      ),
    );
    const testedFields = Object.entries(WRITES).map(([id, [field]]) => [id, field]);
    expect(declaredFields.toSorted()).toEqual(testedFields.toSorted());
  });

  test.each(Object.entries(WRITES))(
    '%s: names no destination that is refused',
    async (_, write) => {
      const [field, send] = write;
      for (const [to, why] of REFUSED) {
        const res = await send(partner, to);
        expect([to, res.status, res.body.error_codes]).toEqual([
          to,
          422,
          { [field]: ['beyond_your_rights'] },
        ]);
        expect(res.body.errors[field][0]).toMatch(new RegExp(why.source.replace(/^\\\+\d+ /, '')));
      }
      expect((await send(partner, '+13105550199')).status).toBeLessThan(300);
      await ok('put', 'company', { sip_hosts: ['*.example.org'] });
      expect((await send(partner, 'sip:x@pbx.example.org')).status).toBeLessThan(300);
      // The company's own people send its calls anywhere.
      expect((await send(world.company.api, '+442079460123')).status).toBeLessThan(300);
    },
  );
});
