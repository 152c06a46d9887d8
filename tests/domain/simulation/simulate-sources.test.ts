import { DAY, indexRows, simulations } from '../../support/simulations';

// Simulations know the caps of traffic sources as live routing does.

const { ok, buyer, offer, later, report, simulate } = simulations();

test('calls of a capped source are replayed as they really went', async () => {
  const buyerId = await buyer();
  const offerId = await offer({ buyer_ids: [buyerId] });
  const { id } = (await ok('post', 'traffic_sources', { name: 'Ads', attempt_hourly_limit: 3 }))
    .traffic_source;
  for (let n = 0; n < 12; n++) {
    const callerNumber = `+1310555${String(n).padStart(4, '0')}`;
    const body = {
      offer_id: offerId,
      caller_number: callerNumber,
      ...(n % 3 > 0 && { traffic_source_id: id }),
    };
    const call = (await ok('post', 'call_sessions', body)).call_session;
    later(2);
    if (call.instruction.action === 'dial') {
      await report(call, 'answered');
      later(90);
      await report(call, 'completed');
    }
    later(600);
  }
  const simulation = await simulate({ offer_id: offerId, ...DAY, changes: [] });
  expect(simulation.calls).toBe(12);
  const { real, as_configured } = indexRows(simulation).get(buyerId)!;
  const attempts = Number(real.attempts);
  expect(as_configured).toMatchObject({ attempts: real.attempts, connects: real.connects });
  expect(as_configured.skip_reasons).toEqual({ traffic_source_cap_reached: 12 - attempts });
  expect(attempts).toBeLessThan(12);

  // Usage of the source before the period counts.
  const from = '2026-06-01T12:25:00Z';
  const rest = indexRows(await simulate({ offer_id: offerId, ...DAY, from, changes: [] })).get(
    buyerId,
  )!;
  expect(rest.as_configured.attempts).toBe(rest.real.attempts);
});
