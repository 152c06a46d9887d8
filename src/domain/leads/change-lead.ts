import type { Db } from '../../data/db';
import { CHANGE_LEAD } from './queries/change-lead';

/** Columns of a lead that a request changes; undefined leaves a column unchanged. */
export interface LeadChange {
  updated_at: Date;
  user_updated_at: Date;
  deleted_at?: Date;
  external_record_id?: string | null | undefined;
  email?: string | null | undefined;
  contact_field_type?: string | null | undefined;
  zones?: readonly string[];
  sub_id?: string | null | undefined;
  status?: string | undefined;
  is_live?: boolean;
  traffic_source_id?: bigint | null | undefined;
  scheduled_callback_id?: bigint | null;
  lead_priority?: number | null | undefined;
  hours_to_expire?: number | null | undefined;
  max_contact_attempts?: number | null | undefined;
  data?: object;
  schedule_ended_at?: Date | null;
  next_action_at?: Date | null;
  callback_at?: Date | null;
  entered_at?: Date;
  phase?: string;
  position?: number | null;
  exit_reason?: string | null;
  contact_attempts?: number;
  suppressed?: boolean;
  unreachable?: boolean;
  due_at?: Date | null | undefined;
  claim_id?: string | null;
  tries?: number;
}

/** Changes a lead, with `only_live` only if it has not ended. Returns whether it was changed. */
export async function changeLead(
  { sql }: Pick<Db, 'sql'>,
  id: bigint,
  change: LeadChange,
  { only_live = false } = {},
): Promise<boolean> {
  const changes = JSON.stringify(change, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return (await sql(CHANGE_LEAD, { id, changes, only_live })).length > 0;
}
