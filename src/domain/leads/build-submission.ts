import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { HttpProblem } from '../../platform/errors';
import type { IgnoredFields } from '../../api/request/set-aside';
import { findTrafficSource } from '../offers/find-traffic-source';
import { leadZones } from '../../data/phone/number-zones';
import type { Data } from '../../platform/tokens/lead-data';
import { cutText } from '../../platform/storable-text';
import { pickFieldColumns } from './columns';
import type { Owner } from './lead-owner';
import { addIgnoredValues, readZip, type ReadLead, type SentLead } from './read-submission';
import type { Submission } from './write-submission';

export interface Sender {
  owner: Owner;
  /** Address of the client, unless the submission contains another. */
  ip: string;
  credentials: string;
  /** A block applies to the whole company, otherwise to the offer or the schedule alone. */
  for_company: boolean;
  ignored: IgnoredFields;
}

/** A submission as it is written; faults of its fields are noted in `ignored`. */
export async function buildSubmission(
  db: Db,
  { fields, tokens: submittedTokens, caller_number }: ReadLead,
  { owner, ip, credentials, ignored, for_company }: Sender,
  now: Date,
): Promise<Submission> {
  const trafficSourceId = await findSource(db, { fields, owner, ignored });
  const tokens = addIgnoredValues(ignored, submittedTokens);
  const warnings = toWarnings(ignored);
  return {
    uuid: uuidv7(now.getTime()),
    now: now.toISOString(),
    offer_id: owner.offer_id,
    schedule_id: owner.schedule_id,
    caller_number,
    zones: leadZones(caller_number, readZip(tokens), owner.zone),
    ...toDataColumns(tokens),
    fields: dropNulls({
      ...pickFieldColumns(fields),
      email: fields.email || null,
      traffic_source_id: trafficSourceId && String(trafficSourceId),
      remote_ip: fields.ip_address ?? fields.remote_ip ?? ip,
    }),
    next_action_at: fields.next_action_at,
    callback_at: readCallbackTime(fields, now),
    restart: fields.restart_schedule,
    update_only: fields.update_only,
    moves_source: for_company,
    only_own_source: !for_company && (owner.traffic_source_id ?? null) !== null,
    sender: { ip, credentials, ...(warnings.length > 0 && { warnings }) },
    note: historyNote(warnings),
  };
}

/** A null of a submission leaves the value of a live lead unchanged. */
const dropNulls = (columns: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== null));

async function findSource(
  db: Db,
  { fields, owner, ignored }: { fields: SentLead; owner: Owner; ignored: IgnoredFields },
): Promise<bigint | null> {
  const ofToken = owner.traffic_source_id ?? null;
  if (!fields.traffic_source_id) return ofToken;
  const setAside = (error: unknown) => {
    ignored.take(error, fields);
    return ofToken;
  };
  const requestedSource = await findTrafficSource(db, fields.traffic_source_id).catch(setAside);
  return ofToken === null || requestedSource === ofToken
    ? requestedSource
    : setAside(ANOTHER_SOURCE);
}

const ANOTHER_SOURCE = HttpProblem.field(
  'traffic_source_id',
  'conflicting_fields',
  'is not the traffic source that the lead token belongs to',
);

function readCallbackTime(
  { schedule_callback_at, schedule_callback_in_seconds: seconds }: SentLead,
  now: Date,
): string | undefined {
  if (schedule_callback_at) return schedule_callback_at;
  if (typeof seconds !== 'number') return undefined;
  return new Date(now.getTime() + seconds * 1000).toISOString();
}

/** Null removes a token. */
function toDataColumns(tokens: Data): Pick<Submission, 'data'> & { removed: string[] } {
  const entries = Object.entries(tokens);
  const presentTokens = Object.fromEntries(entries.filter(([, value]) => value !== null));
  return {
    data: JSON.stringify(presentTokens),
    removed: entries.flatMap(([name, value]) => (value === null ? [name] : [])),
  };
}

interface Warning {
  field: string;
  code: string;
  message: string;
}

/** Limits for the history, which is read by people and has one line per submission. */
const MAX_WARNINGS = 50;
const MAX_NOTE_LENGTH = 1_000;

const toWarnings = ({ faults }: IgnoredFields): Warning[] =>
  Object.entries(faults)
    .flatMap(([field, fieldFaults]) => fieldFaults.map((fieldFault) => ({ field, ...fieldFault })))
    .slice(0, MAX_WARNINGS);

const historyNote = (warnings: readonly Warning[]): string | null =>
  warnings.length === 0
    ? null
    : cutText(
        warnings.map(({ field, message }) => `${field} ${message}`).join('; '),
        MAX_NOTE_LENGTH,
      );
