import { isSip } from '../sip';
import type { Dialect } from './dialects/dialect';

// Elements of TwiML. An attribute that the carrier does not read is not written.

export type Attributes = Record<string, string | number | boolean | undefined>;

export const element = (name: string, values: Attributes, content = ''): string =>
  content
    ? `<${name}${writeAttributes(values)}>${content}</${name}>`
    : `<${name}${writeAttributes(values)}/>`;

const writeAttributes = (values: Attributes): string =>
  Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escapeText(String(value))}"`))
    .join('');

/** A verb whose attributes differ between carriers. */
export function buildVerb(
  { unread }: Pick<Dialect, 'unread'>,
  name: 'Dial' | 'Gather',
  { values, content }: { values: Attributes; content: string },
): string {
  const read = Object.entries(values).filter(([attribute]) => !unread[name]?.includes(attribute));
  return element(name, Object.fromEntries(read), content);
}

/** Characters that XML 1.0 does not allow, not even escaped. */
const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

export function escapeText(value: string): string {
  return value
    .replace(NOT_IN_XML, ' ')
    .replace(/[<>&"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

export const pickNoun = (number: string): 'Sip' | 'Number' => (isSip(number) ? 'Sip' : 'Number');

interface Connection {
  connect_to: string;
  /** The number that the call was placed from, which is shown. */
  from: string;
  timeout_seconds: number;
}

/** For a call of ours whose destination is fixed. */
export function buildConnectingDial(
  dialect: Dialect,
  { connect_to, from, timeout_seconds }: Connection,
): string {
  const timeout = Math.min(timeout_seconds, dialect.max_ring_seconds);
  return buildVerb(dialect, 'Dial', {
    values: { answerOnBridge: true, callerId: from, timeout },
    content: element(pickNoun(connect_to), {}, escapeText(connect_to)),
  });
}
