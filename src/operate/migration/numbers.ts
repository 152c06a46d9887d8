import { numberFacts } from '../../platform/carriers/number-facts';
import { withImportedIdentity, type ImportedIdentity } from '../../data/kept-identity';
import { HttpProblem } from '../../platform/errors';
import { addCountedNumber, type NewNumber } from '../../domain/numbers/add-number';
import { loadNumberReader } from '../../data/phone/caller-number';
import type { NumberReader } from '../../data/phone/parse-number';
import { createNote, remember, type Context, type Count, type Note, type Outcome } from './context';
import { readTime, readUuid } from './fields';
import { quote } from './page';
import { MAX_RECORDS, readRecords, type MovableRecord } from './records';

// Moves telephone numbers before the setup, which names them, and their destinations after it.
// Nothing changes at the carrier.

const RESOURCE = 'phone_numbers';
const LIMIT = { maxItems: MAX_RECORDS };
/** Fields that route calls to a number: they name records that come after the numbers. */
const DESTINATION = ['forward_type', 'offer_id', 'buyer_id', 'traffic_source_id'] as const;

/** Throws NotOffered if the other service has no such list. */
export async function moveNumbers(context: Context): Promise<Count> {
  const count: Count = { read: 0, moved: 0, here: 0, refused: 0 };
  const read = await loadNumberReader(context.db);
  for await (const { items, refused } of readRecords(RESOURCE, context, LIMIT)) {
    count.read += refused;
    count.refused += refused;
    for (const record of items) {
      const outcome = await moveNumber(record, read, context);
      count.read++;
      count[outcome]++;
      if (outcome !== 'refused') remember(context.existingIds, RESOURCE, record.id);
    }
  }
  return count;
}

async function moveNumber(
  record: MovableRecord,
  read: NumberReader,
  context: Context,
): Promise<Outcome> {
  const { target, dry_run } = context;
  const note = createNote(context, RESOURCE, record.id);
  const refuse = (field: string, why: string): Outcome => {
    note(field, `not moved: ${why}`);
    return 'refused';
  };
  const sourceNumber = record.phone_number ?? record.number;
  const number = typeof sourceNumber === 'object' ? undefined : read(String(sourceNumber));
  if (number === undefined)
    return refuse('phone_number', `${quote(sourceNumber)} is no telephone number`);
  const existingNumber = await target.find(RESOURCE, record.id);
  if (existingNumber && existingNumber.phone_number !== `+${number}`)
    return refuse('id', `another record is in the way, ${String(existingNumber.phone_number)}`);
  if (existingNumber) return 'here';
  if (dry_run) return 'moved';
  const fault = await create(toNumber(record, `+${number}`, context, note), context);
  return fault === undefined ? 'moved' : refuse('phone_number', fault);
}

interface MovedNumber {
  identity: ImportedIdentity;
  number: NewNumber;
}

/** Unreadable fields of a number are left out and noted. */
function toNumber(
  record: MovableRecord,
  phoneNumber: string,
  { deps }: Context,
  note: Note,
): MovedNumber {
  const readAs = <T>(field: string, parse: (value: unknown) => T | undefined): T | undefined => {
    const value = record[field] ?? undefined;
    const parsed = value === undefined ? undefined : parse(value);
    if (value !== undefined && parsed === undefined) note(field, `left out: it is ${quote(value)}`);
    return parsed;
  };
  const [uuid, createdAt] = [readAs('uuid', readUuid), readAs('created_at', readTime)];
  const facts = numberFacts(phoneNumber);
  return {
    identity: {
      id: BigInt(record.id),
      ...(uuid !== undefined && { uuid }),
      ...(createdAt && { created_at: createdAt }),
    },
    number: {
      phone_number: phoneNumber,
      country: readAs('country', readCountry) ?? facts?.country ?? 'US',
      toll_free: record.toll_free === true,
      name: readAs('name', readName) ?? null,
      external_record_id: readAs('external_record_id', readName) ?? null,
      carrier: deps.carrier.name,
      carrier_number_id: null,
    },
  };
}

/** Returns the fault if the number cannot be stored here. */
async function create(
  { identity, number }: MovedNumber,
  { db, deps }: Context,
): Promise<string | undefined> {
  const importDb = withImportedIdentity(db, {
    table: 'numbers',
    model: 'number',
    identity,
    reach: null,
  });
  try {
    await importDb.transaction((tx) => addCountedNumber(tx, number, deps.clock()));
    return undefined;
  } catch (error) {
    if (error instanceof HttpProblem) return error.message;
    if ((error as { code?: string }).code === UNIQUE_VIOLATION)
      return 'another record has its id or its uuid';
    throw error;
  }
}

/** Error code of Prisma. */
const UNIQUE_VIOLATION = 'P2002';
const MAX_NAME_CHARS = 255;

const readName = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= MAX_NAME_CHARS ? value : undefined;

const readCountry = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[A-Z]{2}$/.test(value) ? value : undefined;

/** Sets the destinations of numbers that have none here. */
export async function moveDestinations(context: Context): Promise<void> {
  if (context.dry_run) return;
  // The first pass has already reported which records cannot be moved.
  const silent = { ...context, report: () => undefined };
  for await (const { items } of readRecords(RESOURCE, silent, LIMIT))
    for (const record of items) {
      if (!context.existingIds.get(RESOURCE)?.has(record.id)) continue;
      const here = await context.target.find(RESOURCE, record.id);
      if (here && here.offer_id === null && here.buyer_id === null)
        await setDestination(record, context, createNote(context, RESOURCE, record.id));
    }
}

async function setDestination(record: MovableRecord, { target }: Context, note: Note) {
  const entries = DESTINATION.flatMap((field) =>
    record[field] === null || record[field] === undefined ? [] : [[field, record[field]]],
  );
  if (entries.length === 0) return;
  const body: Record<string, unknown> = Object.fromEntries(entries);
  const faults = await target.update(`${RESOURCE}/${record.id}`, body);
  for (const [field, messages] of Object.entries(faults ?? {}))
    note(field, `left out: ${messages.join('; ')}`);
}
