import { createNote, remember, type Context, type Count, type Note, type Outcome } from './context';
import { moveMembers } from './members';
import type { SourceRecord } from './reader';
import { MAX_RECORDS, readRecords, type MovableRecord } from './records';
import { mapRecord, MEMBERS, type Resource } from './resources';

// Moves the setup of an account, record by record, through the operations of this API: their checks
// and derived values also apply to moved records.

/** Moves the records of a resource. Throws NotOffered if the other service has no such list. */
export async function moveSetup(resource: Resource, context: Context): Promise<Count> {
  const count: Count = { read: 0, moved: 0, here: 0, refused: 0 };
  const members = MEMBERS[resource];
  for await (const { items, refused } of readRecords(resource, context, {
    maxItems: MAX_RECORDS,
  })) {
    count.read += refused;
    count.refused += refused;
    for (const record of items) {
      const outcome = await moveRecord(resource, record, context);
      count.read++;
      count[outcome]++;
      if (outcome === 'refused') continue;
      remember(context.existingIds, resource, record.id);
      if (members && !context.dry_run) await moveMembers(resource, members, record, context);
    }
  }
  return count;
}

async function moveRecord(
  resource: Resource,
  record: MovableRecord,
  context: Context,
): Promise<Outcome> {
  const { target, dry_run } = context;
  const note = createNote(context, resource, record.id);
  if (record.built_in === true) return 'here';
  const existingRecord = await target.find(resource, record.id);
  if (existingRecord) {
    if (isSame(record, existingRecord)) return 'here';
    note('id', `not moved: another record is in the way, ${readName(existingRecord)}`);
    return 'refused';
  }
  const { body, unknown } = mapRecord(resource, record, context);
  for (const field of unknown)
    if (record[field] !== null) note(field, 'left out: there is no such field here');
  if (dry_run) return 'moved';
  return (await createWithoutRefused(resource, body, context, note)) ? 'moved' : 'refused';
}

/** True if one of two records with the same id was made from the other. */
const isSame = (there: SourceRecord, here: SourceRecord): boolean =>
  typeof there.uuid === 'string' ? there.uuid === here.uuid : readName(there) === readName(here);

const readName = ({ name, email, key, phone_number }: SourceRecord): string =>
  String(name ?? email ?? key ?? phone_number ?? '');

/**
 * Creates a record without the values that are refused here. Returns false if it cannot be created.
 */
async function createWithoutRefused(
  resource: Resource,
  initialBody: Record<string, unknown>,
  { target }: Context,
  note: Note,
): Promise<boolean> {
  for (let body = initialBody; ;) {
    const faults = await target.create(resource, body);
    if (!faults) return true;
    const fields = Object.keys(faults).map((field) => field.split('.')[0]!);
    const removable = fields.filter((field) => field in body && field !== 'legacy_id');
    for (const [field, messages] of Object.entries(faults)) {
      const root = field.split('.')[0]!;
      if (removable.includes(root) && body[root] === null) continue;
      const what = removable.length > 0 ? 'left out' : 'record not moved';
      note(field, `${what}: ${messages.join('; ')}`);
    }
    if (removable.length === 0) return false;
    body = Object.fromEntries(Object.entries(body).filter(([name]) => !removable.includes(name)));
  }
}
