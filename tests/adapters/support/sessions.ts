import type { DialBuyer, Session } from '../../../src/adapters/service/service';

type Instruction = Session['instruction'];

/** An instruction of the service, with these fields. */
export const buildSession = (instruction: Partial<Instruction>, uuid = UUID): Session => ({
  ...{ id: 1, uuid, status: 'ringing', offer_id: 1, caller_number: null, number_called: null },
  call_sid: 'sid-1',
  instruction: {
    ...{ action: 'wait', reason: null, message: null, greeting: null, dial: [], attempt: null },
    ...{ prompt: null, cancel: [], fallback: null, max_seconds: null, sip_status: null },
    ...{ sip_reason: null, report_within_seconds: 180, key_presses: [] },
    ...instruction,
  },
});

export const UUID = '01a00000-0000-7000-8000-000000000001';

export const buildBuyer = (attempt: string, more: Partial<DialBuyer> = {}): DialBuyer => ({
  ...{ attempt, buyer_id: 1, user_buyer_id: null, name: null, buyer_group_id: null },
  ...{ number: '+13105550101', timeout_seconds: 20, caller_id: '+13105550188' },
  ...{ dtmf_tones: null, press_one_to_accept: false, record_calls: false },
  ...{ trunk: null, headers: {} },
  ...more,
});
