import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import type { Deps } from '../../domain/deps';
import type { Call, Handlers } from '../../api/handlers';
import { HttpProblem } from '../../platform/errors';
import { LAST_OFFER, LAST_SCHEDULE } from './queries/demo';

type Maker = Omit<Call<'createOffer'>, 'body' | 'query'> & { query: Record<never, never> };

const ACTIONS: Omit<Schemas['ScheduleActionCreate'], 'schedule_id'>[] = [
  {
    name: 'Welcome',
    action_type: 'sms',
    body:
      'Hi [first_name]{there}, thank you for asking about {{offer_name}}. ' +
      'We call you in a minute. Text STOP to be left alone.',
  },
  { action_type: 'wait', wait_amount: 1, wait_unit: 'minutes' },
  { name: 'First call', action_type: 'dial', connect_to: '+13105550111', timeout_seconds: 25 },
  { action_type: 'wait', wait_until: '09:30' },
  {
    name: 'Californians only',
    action_type: 'email',
    token_filter_list: ['state:in CA,NV,OR'],
    subject: 'Your quote, [first_name]{dear friend}',
    html: true,
    body: '<p>Hello [first_name]{there}, a quote for {{zip}} waits for you.</p>',
  },
  { name: 'Second call', action_type: 'dial', connect_to: '+13105550111', timeout_seconds: 25 },
  {
    name: 'Farewell',
    action_type: 'sms',
    end_of_schedule: true,
    body: 'We could not reach you. Call us at {{service_number}} whenever you like.',
  },
];

/**
 * Makes an offer and its schedule, by whose end a lead has been texted twice, called twice and
 * mailed once.
 */
export async function populateLeads(
  db: Db,
  call: Maker,
  { handlers, deps }: { handlers: Handlers; deps: Deps },
): Promise<void> {
  const userBuyerIds = ['acme_la', 'bayline'];
  await handlers.createTrafficSource({
    ...call,
    body: { name: 'Search ads', user_traffic_source_id: 'search' },
  });
  await handlers.createOffer({
    ...call,
    body: { name: 'Auto insurance', user_offer_id: 'auto', add_user_buyer_ids: userBuyerIds },
  });
  const offerId = (await db.sql(LAST_OFFER, {}))[0]!.id;
  // A visitor at night would otherwise wait for the morning.
  const schedule = {
    name: 'New auto leads',
    user_schedule_id: 'auto_new',
    offer_id: offerId,
    daylight_hours: '00:00..23:59',
    hours_to_expire: 72,
    max_contact_attempts: 6,
  };
  await handlers.createSchedule({ ...call, body: schedule });
  const scheduleId = (await db.sql(LAST_SCHEDULE, {}))[0]!.id;
  for (const action of ACTIONS)
    await handlers.createScheduleAction({ ...call, body: { ...action, schedule_id: scheduleId } });
  // Numbers of other carriers cost money.
  if (deps.carrier.name === 'sandbox')
    await handlers.createPhoneNumber({ ...call, body: { prefix: '310' } }).catch(ignoreSoldOut);
}

/** The demo also works without a number. */
function ignoreSoldOut(error: unknown): void {
  if (!(error instanceof HttpProblem)) throw error;
}
