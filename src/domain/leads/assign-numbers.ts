import type { Db } from '../../data/tenant';
import { fault, type FieldFaults } from '../../platform/errors';
import { assignNumber } from '../numbers/assign-number';
import type { SentLead } from './read-submission';
import type { Submission, WrittenLead } from './upsert-lead';

interface NumberAssignment {
  submission: Submission;
  lead: WrittenLead;
  warnings: FieldFaults;
}

/**
 * Assigns the numbers of the company that a submission asks for: one from which the lead is called,
 * one from which it is texted. Returns their digits; null when none was requested, or with a
 * warning when the company owns none.
 */
export async function assignNumbers(
  db: Db,
  fields: SentLead,
  { submission, lead, warnings }: NumberAssignment,
): Promise<{ service_number: string | null; sms_number: string | null }> {
  const numbered = {
    id: BigInt(lead.id),
    caller_number: submission.caller_number,
    offer_id: lead.offer_id === null ? null : BigInt(lead.offer_id),
  };
  const assign = async (
    name: 'assign_service_number' | 'assign_sms_number',
    column: 'dial_number_id' | 'sms_number_id',
  ) => {
    const number = await assignNumber(db, numbered, column, new Date(submission.now));
    if (number === null)
      warnings[name] = [
        fault('number_unavailable', 'the company owns no number that could be assigned'),
      ];
    return number;
  };
  const isForCalls = fields.assign_service_number || fields.assign_trackdrive_number;
  return {
    service_number: isForCalls ? await assign('assign_service_number', 'dial_number_id') : null,
    sms_number: fields.assign_sms_number
      ? await assign('assign_sms_number', 'sms_number_id')
      : null,
  };
}
