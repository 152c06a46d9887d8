import { parseForeignJson } from '../storable-text';

type Data = Record<string, unknown>;

// The shapes in which form software sends a lead, as its documentation shows them. What says
// something about the form, and not about the person, gets a prefix or is left out.

const isObject = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of the person, if form software has sent the data; otherwise the data. */
export const unwrapForm = (data: Data): Data =>
  [unwrapUnbounce, unwrapElementor, unwrapTypeform, unwrapGravityForms].reduce(
    (fields, unwrap) => unwrap(fields),
    data,
  );

/** The text of a JSON object in `data.json`, whose values are lists of one. */
function unwrapUnbounce(data: Data): Data {
  const { data_json: text, ...page } = data;
  const answers = typeof text === 'string' ? parseForeignJson(text) : text;
  return isObject(answers) ? { ...page, ...mapValues(answers, takeOnly) } : data;
}

/** The text in a list of one. */
export const takeOnly = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 && typeof value[0] === 'string' ? value[0] : value;

const mapValues = (data: Data, read: (value: unknown) => unknown): Data =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, read(value)]));

/** An answer with its question: `fields[phone][value]`, `[title]`, `[type]` and others. */
const isElement = (value: unknown): value is Data =>
  isObject(value) && 'value' in value && ('title' in value || 'raw_value' in value);

const OPAQUE_ID = /^field_[0-9a-f]{5,}$/;

function unwrapElementor(data: Data): Data {
  const { fields, form, meta, ...rest } = data;
  const elements = isObject(fields) ? Object.entries(fields) : [];
  if (elements.length === 0 || !elements.every(([, element]) => isElement(element))) return data;
  const answers = elements.map(([id, element]) => {
    const { title, type, value } = element as Data;
    return { id: OPAQUE_ID.test(id) ? title || id : id, type, value };
  });
  const about = isObject(meta) ? mapValues(meta, (at) => (isElement(at) ? at.value : at)) : {};
  return { ...nameAnswers(answers), ...prefix(about, 'meta'), ...prefix(form, 'form'), ...rest };
}

const prefix = (data: unknown, name: string): Data =>
  isObject(data)
    ? Object.fromEntries(Object.entries(data).map(([key, value]) => [`${name}_${key}`, value]))
    : {};

/** Answers have a type, and their value under the name of that type. */
function unwrapTypeform(data: Data): Data {
  const { form_response: response, ...event } = data;
  if (!isObject(response) || !Array.isArray(response.answers)) return data;
  const { answers, definition, hidden, ...rest } = response;
  const questions = isObject(definition) ? definition.fields : undefined;
  const titles = new Map(
    (Array.isArray(questions) ? questions : [])
      .filter(isObject)
      .map(({ id, title }) => [id, title] as const),
  );
  const read = (answers as unknown[]).filter(isObject).map((answer) => {
    const { id, ref } = isObject(answer.field) ? answer.field : ({} as Data);
    const isMade = typeof ref !== 'string' || /^[0-9a-f-]{32,36}$/.test(ref);
    const type = String(answer.type);
    return { id: (isMade ? titles.get(id) : ref) ?? id, type, value: readChoice(answer[type]) };
  });
  return { ...nameAnswers(read), ...(isObject(hidden) && hidden), ...rest, ...event };
}

const readChoice = (value: unknown): unknown =>
  isObject(value) ? (value.label ?? value.labels ?? value.other ?? value) : value;

interface Answer {
  id: unknown;
  type: unknown;
  value: unknown;
}

/** A question may have any name: its type says which is the number, and which the address. */
const NAMES: Record<string, string> = { tel: 'phone', phone_number: 'phone', email: 'email' };

function nameAnswers(answers: readonly Answer[]): Data {
  const fields: Data = {};
  for (const { id, type, value } of answers) {
    const name = NAMES[String(type)];
    fields[name && !(name in fields) ? name : String(id)] = value;
  }
  return fields;
}

/** Parts of a name, and of an address, by the number after the field's. */
const NAME_PARTS: Record<string, string> = { 3: 'first_name', 6: 'last_name' };
const ADDRESS_PARTS: Record<string, string> = { 1: 'address', 3: 'city', 4: 'state', 5: 'zip' };
const FIELD_ID = /^(?:input_)?(\d+)(?:[._](\d+))?$/;
const ADDRESS = /^[^\s@]{1,64}@[^\s@]{1,190}\.[^\s@.]{2,}$/;
const TELEPHONE = /^\+?[\d\s().-]{7,24}$/;

const isTelephone = (text: string): boolean =>
  TELEPHONE.test(text) && /^\d{10,15}$/.test(text.replace(/\D/g, ''));

/** An entry has the numbers of its fields for names: `1.3` is the first name in field 1. */
function unwrapGravityForms(data: Data): Data {
  const ids = Object.keys(data).filter((key) => FIELD_ID.test(key));
  if (!('form_id' in data || 'gform_submit' in data) || ids.length === 0) return data;
  const parts = ids.map((key) => [key, ...FIELD_ID.exec(key)!.slice(1)] as string[]);
  const hasPart = (field: string, part: string) =>
    parts.some(([, other, of]) => other === field && of === part);
  const answers: Data = {};
  for (const [key, field, part] of parts as [string, string, string | undefined][]) {
    const text = String(data[key] ?? '').trim();
    const isAddress = hasPart(field, '1') || hasPart(field, '5');
    const named = part && (isAddress ? ADDRESS_PARTS : NAME_PARTS)[part];
    const name = named ?? (ADDRESS.test(text) ? 'email' : isTelephone(text) && 'phone');
    if (name && text !== '' && !(name in answers)) answers[name] = data[key];
  }
  return { ...answers, ...data };
}
