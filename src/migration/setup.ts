import { noteOn, remember, type Context, type Count, type Note, type Outcome } from './context';
import { NotOffered, type SourceRecord } from './reader';
import { mapRecord, MEMBERS, type Members, type Resource } from './resources';

// Moves the setup of an account, record by record, through the operations of this API: whatever
// they check and derive is so for records that were moved.

/** Moves the records of a resource. Throws NotOffered where the other service has no such list. */
export async function moveSetup(resource: Resource, context: Context): Promise<Count> {
  const count: Count = { read: 0, moved: 0, here: 0, refused: 0 };
  const members = MEMBERS[resource];
  for await (const { items } of context.source.pages(resource, resource))
    for (const record of items) {
      const outcome = await moveRecord(resource, record, context);
      count.read++;
      count[outcome]++;
      if (outcome === 'refused') continue;
      remember(context.known, resource, Number(record.id));
      if (members && !context.dry_run) await moveMembers(resource, members, record, context);
    }
  return count;
}

/** Those that are on the list already stay there. */
async function moveMembers(
  resource: Resource,
  { path, root, add, field }: Members,
  { id }: SourceRecord,
  context: Context,
): Promise<void> {
  const note = noteOn(context, resource, id);
  const list = `${resource}/${String(id)}`;
  try {
    for await (const { items } of context.source.pages(`${list}/${path}`, root)) {
      if (items.length === 0) continue;
      const rejected = await context.target.add(`${list}/${add}`, { [field]: items.map(valueOf) });
      for (const line of rejected) note(field, `not moved: ${line}`);
    }
  } catch (error) {
    if (!(error instanceof NotOffered)) throw error;
    note(field, `not moved: ${error.message}; import them as a file`);
  }
}

/** A member of a list, by itself or as an object that has it. */
const valueOf = (item: unknown): unknown =>
  typeof item === 'object' && item !== null
    ? ((item as SourceRecord).value ?? (item as SourceRecord).caller_id)
    : item;

async function moveRecord(
  resource: Resource,
  record: SourceRecord,
  context: Context,
): Promise<Outcome> {
  const { target, dry_run } = context;
  const note = noteOn(context, resource, record.id);
  const id = Number(record.id);
  if (!Number.isSafeInteger(id) || id < 1) {
    note('id', 'not moved: is not a number that a record can have');
    return 'refused';
  }
  if (record.built_in === true) return 'here';
  const found = await target.find(resource, id);
  if (found) {
    if (isSame(record, found)) return 'here';
    note('id', `not moved: another record is in the way, ${nameOf(found)}`);
    return 'refused';
  }
  const { body, unknown } = mapRecord(resource, record, context);
  for (const field of unknown)
    if (record[field] !== null) note(field, 'left out: there is no such field here');
  if (dry_run) return 'moved';
  return (await createWithout(resource, body, context, note)) ? 'moved' : 'refused';
}

/** Of records of one id: whether one was made of the other. */
const isSame = (there: SourceRecord, here: SourceRecord): boolean =>
  typeof there.uuid === 'string' ? there.uuid === here.uuid : nameOf(there) === nameOf(here);

const nameOf = ({ name, email, key, phone_number }: SourceRecord): string =>
  String(name ?? email ?? key ?? phone_number ?? '');

/** Creates a record, without the values that are refused here. Returns whether it is here. */
async function createWithout(
  resource: Resource,
  given: Record<string, unknown>,
  { target }: Context,
  note: Note,
): Promise<boolean> {
  for (let body = given; ;) {
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
