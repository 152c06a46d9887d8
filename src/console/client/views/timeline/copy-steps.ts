import type { CopyByForm } from '../../nouns/layout';
import type { Json } from '../../transport';

/** Columns that a new step takes from another; the API makes the others. */
const COPIED = [
  'action_type',
  'name',
  'end_of_schedule',
  'position',
  'token_filter_list',
  'wait_amount',
  'wait_unit',
  'wait_until',
  'connect_to',
  'only_when_buyer_available',
  'machine_action',
  'machine_message',
  'timeout_seconds',
  'body',
  'subject',
  'html',
  'from_email',
  'url',
  'method',
  'headers',
  'to_schedule_id',
];

const MAX_STEPS = 1_000;

/** Gives a schedule the steps of another, in their order. */
export const copySteps: NonNullable<CopyByForm['after']> = async ({ from, to, send }) => {
  const path = `/schedule_actions?schedule_id=${encodeURIComponent(from)}&order=position&per_page=${MAX_STEPS}`;
  const { schedule_actions: steps } = await send('GET', path);
  for (const step of steps as Json[]) {
    const values = COPIED.flatMap((name) =>
      step[name] === null || step[name] === undefined ? [] : [[name, step[name]]],
    );
    await send('POST', '/schedule_actions', { ...Object.fromEntries(values), schedule_id: to });
  }
};
