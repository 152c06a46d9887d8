import { fault, type FieldFaults } from '../../platform/errors';
import type { IgnoredFields } from '../../api/request/set-aside';
import { contactRefusal } from '../../data/phone/contact-policy';
import { cutText } from '../../platform/storable-text';
import type { Owner } from './lead-owner';
import type { Submission, WrittenLead } from './upsert-lead';

interface Warning {
  field: string;
  code: string;
  message: string;
}

/** Limits for the history, which is read by people and has one line per submission. */
const MAX_WARNINGS = 50;
const MAX_NOTE_LENGTH = 1_000;

export const toWarnings = ({ faults }: IgnoredFields): Warning[] =>
  Object.entries(faults)
    .flatMap(([field, fieldFaults]) => fieldFaults.map((fieldFault) => ({ field, ...fieldFault })))
    .slice(0, MAX_WARNINGS);

export const historyNote = (warnings: readonly Warning[]): string | null =>
  warnings.length === 0
    ? null
    : cutText(
        warnings.map(({ field, message }) => `${field} ${message}`).join('; '),
        MAX_NOTE_LENGTH,
      );

export function addWarnings(
  { status, paused }: WrittenLead,
  { submission, owner }: { submission: Submission; owner: Owner },
  warnings: FieldFaults,
): void {
  const stopped = (message: string) =>
    void (warnings.caller_id ??= [fault('contact_refused', message)]);
  if (status === 'blocked')
    stopped('is blocked by the company or for the offer: the lead is stored, but not contacted');
  else if (status === 'opt_out') stopped('has opted out: the lead is stored, but not contacted');
  else if (paused)
    warnings.lead_token = [
      fault(
        'wrong_state',
        'belongs to an offer or a schedule that is paused: the lead is stored, and contacted ' +
          'when it resumes',
      ),
    ];
  const refusal = contactRefusal(submission.caller_number, owner);
  if (refusal) stopped(`${refusal}: the lead is stored, but neither called nor texted`);
}
