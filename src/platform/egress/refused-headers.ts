/**
 * Headers that determine the end of a message and its host. The service sets them: a second one
 * would allow request smuggling.
 */
const OWN_HEADERS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'proxy-connection',
  'proxy-authorization',
]);
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns why headers that a customer wrote must not be saved or sent, in words that follow the
 * name of a field; undefined when they may be.
 */
export function findHeaderFault(headers: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name))
      return `must not have the header ${JSON.stringify(name)}: it is not a valid header name`;
    if (OWN_HEADERS.has(name.toLowerCase()))
      return `must not have the header ${name}: it is set by the service`;
    if (!HEADER_VALUE.test(value))
      return `must not have line breaks or characters beyond Latin-1 in the header ${name}`;
  }
  return undefined;
}
