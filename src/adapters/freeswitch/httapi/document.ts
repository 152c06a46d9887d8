// A document for mod_httapi: what FreeSWITCH is to do with a channel.

export interface Work {
  /** Variables of the channel; null deletes one. */
  variables?: Record<string, string | null>;
  /** Done one after the other; then FreeSWITCH asks again. */
  tags: Tag[];
}

export interface Tag {
  name: string;
  attributes?: Record<string, string>;
  /** Keys that end it. */
  keys?: readonly string[];
}

/** Ends the application: FreeSWITCH goes on in its dialplan. */
export const BREAK: Tag = { name: 'break' };
export const HANG_UP: Tag = { name: 'hangup' };
export const NOTHING: Work = { tags: [] };

export function execute(application: string, data = ''): Tag {
  // FreeSWITCH would end the call, or replace variables.
  if (data.includes('$')) throw new Error(`${application} must not be given variables`);
  return { name: 'execute', attributes: { application, data } };
}

export const play = (file: string): Tag => ({ name: 'playback', attributes: { file } });

/** Keys of a telephone. */
const KEYS = [...'1234567890*#'];

/** Plays a prompt, and waits for a key, which the next request has as `field`. */
export const askForKey = (file: string, field: string, seconds: number): Tag => ({
  name: 'playback',
  attributes: {
    ...{ file, name: field },
    ...{ 'input-timeout': String(seconds * 1000), 'digit-timeout': '500' },
  },
  keys: KEYS,
});

export const wait = (ms: number): Tag => ({
  name: 'pause',
  attributes: { milliseconds: String(ms) },
});

const ENTITIES: Record<string, string> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
};

const escape = (text: string): string =>
  text.replace(/\p{Cc}+/gu, ' ').replace(/[&<>"']/g, (sign) => ENTITIES[sign]!);

/** FreeSWITCH refuses a value that has a variable in it. */
const dropExpressions = (text: string): string => text.replace(/\$(?=[${])/g, '');

/** Characters that would end the name of a tag. */
const NO_NAME = /[^\w.~!*+-]/;

/** True for a variable that a document can name. */
export const isVariableName = (name: string): boolean => !NO_NAME.test(name);

export function formatWork({ variables = {}, tags }: Work): string {
  const values = Object.entries(variables)
    .filter(([name]) => isVariableName(name))
    .map(([name, value]) => `<${name}>${escape(dropExpressions(value ?? ''))}</${name}>`);
  return (
    '<document type="xml/freeswitch-httapi">' +
    `<variables>${values.join('')}</variables><work>${tags.map(formatTag).join('')}</work>` +
    '</document>'
  );
}

function formatTag({ name, attributes = {}, keys = [] }: Tag): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escape(value)}"`);
  const binds = keys.map((key) => `<bind>${key}</bind>`);
  return `<${name}${written.join('')}>${binds.join('')}</${name}>`;
}
