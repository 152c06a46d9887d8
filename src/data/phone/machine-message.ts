import { HttpProblem } from '../../platform/errors';

/** The action of a call that an answering machine answers. */
export type MachineAction = 'hang_up' | 'leave_message' | 'connect';

/** The message is the URL of a recording rather than text. */
export const isRecording = (message: string): boolean => /^https?:\/\/\S+$/i.test(message.trim());

interface Messages {
  sentMessage: string | null | undefined;
  storedMessage: string | null | undefined;
}

/**
 * The message for answering machines: only with `leave_message`, which needs one. A stored message
 * is dropped when the action has changed. Throws 422.
 */
export function machineMessage(
  action: MachineAction,
  { sentMessage, storedMessage }: Messages,
): string | null {
  const message = storedMessage?.trim() ? storedMessage : null;
  if (action === 'leave_message') {
    if (message !== null) return message;
    throw HttpProblem.field(
      'machine_message',
      'missing_field',
      'must be given with leave_message: the text that is said, or the URL of a recording',
    );
  }
  if (sentMessage?.trim())
    throw HttpProblem.field(
      'machine_message',
      'not_applicable',
      `is only for machine_action leave_message; here it is ${action}`,
    );
  return null;
}
