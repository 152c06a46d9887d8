import { numberFacts } from '../carriers/number-facts';
import { keepingIdentity } from '../db/kept-identity';
import { HttpProblem } from '../errors';
import { addNumber } from '../numbers/add-number';
import { numberReaderOf } from '../phone/caller-number';
import type { NumberReader } from '../phone/parse-number';
import { noteOn, remember, type Context, type Count, type Note, type Outcome } from './context';
import type { SourceRecord } from './reader';

// Moves telephone numbers: before the setup, which names them, and what calls to them do after it.
// At the carrier nothing changes.

const RESOURCE = 'phone_numbers';
/** What calls to a number do: they name records that come after the numbers. */
const DESTINATION = ['forward_type', 'offer_id', 'buyer_id', 'traffic_source_id'] as const;

/** Throws NotOffered where the other service has no such list. */
export async function moveNumbers(context: Context): Promise<Count> {
  const count: Count = { read: 0, moved: 0, here: 0, refused: 0 };
  const read = await numberReaderOf(context.db);
  for await (const { items } of context.source.pages(RESOURCE, RESOURCE))
    for (const record of items) {
      const outcome = await moveNumber(record, read, context);
      count.read++;
      count[outcome]++;
      if (outcome !== 'refused') remember(context.known, RESOURCE, Number(record.id));
    }
  return count;
}

async function moveNumber(
  record: SourceRecord,
  read: NumberReader,
  context: Context,
): Promise<Outcome> {
  const { target, dry_run } = context;
  const note = noteOn(context, RESOURCE, record.id);
  const refuse = (field: string, why: string): Outcome => {
    note(field, `not moved: ${why}`);
    return 'refused';
  };
  const sent = String(record.phone_number ?? record.number);
  const number = read(sent);
  if (number === undefined) return refuse('phone_number', `${sent} is no telephone number`);
  const found = await target.find(RESOURCE, Number(record.id));
  if (found && found.phone_number !== `+${number}`)
    return refuse('id', `another record is in the way, ${String(found.phone_number)}`);
  if (found) return 'here';
  return dry_run ? 'moved' : create(record, `+${number}`, context, refuse);
}

async function create(
  { id, uuid, created_at, name, external_record_id, country, toll_free }: SourceRecord,
  phone_number: string,
  { db, deps }: Context,
  refuse: (field: string, why: string) => Outcome,
): Promise<Outcome> {
  const identity = {
    id: BigInt(Number(id)),
    ...(typeof uuid === 'string' && { uuid }),
    ...(typeof created_at === 'string' && { created_at: new Date(created_at) }),
  };
  const number = {
    ...numberFacts(phone_number),
    phone_number,
    country: String(country ?? 'US'),
    toll_free: toll_free === true,
    name: textOr(name),
    external_record_id: textOr(external_record_id),
    carrier: deps.carrier.name,
    carrier_number_id: null,
  };
  try {
    await keepingIdentity(db, { table: 'numbers', model: 'number', identity }).transaction((tx) =>
      addNumber(tx, number, deps.clock()),
    );
    return 'moved';
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return refuse('phone_number', error.message);
  }
}

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Lets calls to the numbers do what they did, as far as it is not said here what they do. */
export async function moveDestinations(context: Context): Promise<void> {
  if (context.dry_run) return;
  for await (const { items } of context.source.pages(RESOURCE, RESOURCE))
    for (const record of items) {
      if (!context.known.get(RESOURCE)?.has(Number(record.id))) continue;
      const here = await context.target.find(RESOURCE, Number(record.id));
      if (here && here.offer_id === null && here.buyer_id === null)
        await setDestination(record, context, noteOn(context, RESOURCE, record.id));
    }
}

async function setDestination(record: SourceRecord, { target }: Context, note: Note) {
  const given = DESTINATION.flatMap((field) =>
    record[field] === null || record[field] === undefined ? [] : [[field, record[field]]],
  );
  if (given.length === 0) return;
  const body: Record<string, unknown> = Object.fromEntries(given);
  const faults = await target.update(`${RESOURCE}/${String(record.id)}`, body);
  for (const [field, messages] of Object.entries(faults ?? {}))
    note(field, `left out: ${messages.join('; ')}`);
}
