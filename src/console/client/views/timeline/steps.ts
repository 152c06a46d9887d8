// The steps of a schedule in words and in order. Nothing here draws.

type Inputs = Readonly<Record<string, unknown>>;

/** An action of a schedule, as the API has it. */
export interface Step {
  id: number;
  action_type: ActionType;
  name: string | null;
  end_of_schedule: boolean;
  position: number;
  token_filter_list: string[];
  wait_amount: number | null;
  wait_unit: string | null;
  wait_until: string | null;
  connect_to: string | null;
  body: string | null;
  subject: string | null;
  url: string | null;
  method: string | null;
  to_schedule_id: number | null;
}

export type ActionType =
  | 'dial'
  | 'sms'
  | 'email'
  | 'wait'
  | 'webhook'
  | 'exit'
  | 'opt_out'
  | 'block'
  | 'restart'
  | 'move_to_schedule';

/** Each kind, in the words of a button. */
export const ACTION_TITLES: Readonly<Record<ActionType, string>> = {
  dial: 'Call the lead',
  sms: 'Send a text',
  email: 'Send an e-mail',
  wait: 'Wait',
  webhook: 'Send a request to your system',
  exit: 'End the schedule',
  opt_out: 'Opt the number out',
  block: 'Block the number',
  restart: 'Start the schedule again',
  move_to_schedule: 'Move to another schedule',
};

/** The fields that a kind takes; the API refuses those of another kind. */
const KIND_FIELDS: Readonly<Record<ActionType, readonly string[]>> = {
  dial: [
    'connect_to',
    'only_when_buyer_available',
    'machine_action',
    'machine_message',
    'timeout_seconds',
  ],
  sms: ['body'],
  email: ['subject', 'body', 'html', 'from_email'],
  wait: ['wait_amount', 'wait_unit', 'wait_until'],
  webhook: ['url', 'method', 'headers', 'body'],
  exit: [],
  opt_out: [],
  block: [],
  restart: [],
  move_to_schedule: ['to_schedule_id'],
};

const isEmpty = (value: unknown): boolean =>
  value === '' || value === null || value === undefined || value === false;

/** True if the kind of the action, and what is chosen so far, leave the field a meaning. */
export function isFieldOfKind(name: string, inputs: Inputs): boolean {
  const fields = KIND_FIELDS[inputs.action_type as ActionType];
  if (!fields?.includes(name)) return false;
  if (name === 'only_when_buyer_available') return isEmpty(inputs.connect_to);
  return name !== 'machine_message' || inputs.machine_action === 'leave_message';
}

const UNIT = /s$/;

/** `2 hours later`, `At the next 09:00`. */
export function describeWait({ wait_amount, wait_unit, wait_until }: Step): string {
  if (wait_until !== null) return `At the next ${wait_until}`;
  const unit = wait_unit ?? 'seconds';
  return `${wait_amount} ${wait_amount === 1 ? unit.replace(UNIT, '') : unit} later`;
}

/** The steps of one list: those on the way, or those when a lead leaves. */
export const listSteps = (steps: readonly Step[], isAtEnd: boolean): Step[] =>
  steps
    .filter(({ end_of_schedule }) => end_of_schedule === isAtEnd)
    .sort((first, second) => first.position - second.position || first.id - second.id);

/**
 * The position that puts a step before the one at `index` of a list: the middle of two neighbours.
 * Null is the last position, which the API chooses.
 */
export function positionAt(steps: readonly Step[], index: number): number | null {
  const after = steps[index];
  return after ? positionBefore(steps[index - 1], after.position) : null;
}

/** A position between that of a step, or the start of its list, and another. */
export const positionBefore = (before: Step | undefined, position: number): number =>
  before ? (before.position + position) / 2 : position - 1;

/**
 * The position after which a step at `from` is at `to` in its list; undefined where it does not
 * move.
 */
export function positionToMove(
  steps: readonly Step[],
  from: number,
  to: number,
): number | null | undefined {
  if (to === from || to < 0 || to >= steps.length) return undefined;
  return positionAt(
    steps.filter((_, index) => index !== from),
    to,
  );
}
