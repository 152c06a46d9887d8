import { Faults } from '../../api/request/faults';
import { storableFields } from '../../api/request/well-formed';
import { NotOffered } from './answer';
import { createNote, type Context } from './context';
import { isObject, quote } from './page';
import { RESUME_HINT, type Page } from './reader';
import { noteShortage, type MovableRecord } from './records';
import type { Members, Resource } from './resources';

// Moves the members of a moved list: numbers or values.

/** Members per request. */
const MAX_ADDED = 1_000;

/** Members that are already on the list stay there. */
export async function moveMembers(
  resource: Resource,
  { path, root, add, field }: Members,
  { id }: MovableRecord,
  context: Context,
): Promise<void> {
  const note = createNote(context, resource, id);
  const list = `${resource}/${id}`;
  const addPart = (part: string[]) => context.target.add(`${list}/${add}`, { [field]: part });
  try {
    for await (const page of context.source.pages(`${list}/${path}`, root)) {
      const values = page.items.map((item, index) => readMember(item, index, page));
      for (let at = 0; at < values.length; at += MAX_ADDED)
        await addMembers(values.slice(at, at + MAX_ADDED), addPart, (fault) =>
          note(field, `not moved: ${fault}`),
        );
      noteShortage(list, page, context);
    }
  } catch (error) {
    if (!(error instanceof NotOffered)) throw error;
    note(field, `not moved: ${error.message}; import them as a file`);
  }
}

/**
 * Adds members. A refused one blocks the others of its request, which is halved until they come
 * without it.
 */
async function addMembers(
  values: string[],
  addPart: (part: string[]) => ReturnType<Context['target']['add']>,
  report: (fault: string) => void,
): Promise<void> {
  if (values.length === 0) return;
  const { isRefused, faults } = await addPart(values);
  if (!isRefused || values.length === 1) return faults.forEach(report);
  const half = Math.ceil(values.length / 2);
  await addMembers(values.slice(0, half), addPart, report);
  await addMembers(values.slice(half), addPart, report);
}

/** A member by itself, or an object that contains it, as storable text. */
function readMember(item: unknown, index: number, { items, address }: Page): string {
  const value = isObject(item) ? (item.value ?? item.caller_id) : item;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string')
    return String((storableFields({ value }, new Faults()) as { value: unknown }).value);
  throw new Error(
    `${address} has ${quote(item)} as value ${index + 1} of ${items.length}. ${RESUME_HINT}`,
  );
}
