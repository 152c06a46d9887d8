const ADDRESS =
  /^[^\s\p{Cc}@<>,;:"()[\]\\]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z0-9-]{2,63}$/u;
/** A name without quotes, or one in quotes that contains no quotes or backslashes. */
const NAMED_MAILBOX =
  /^(?:"([^"\\\p{Cc}]{0,200})"|([^"\\\p{Cc}@<>,;:()[\]]{0,200}?))\s*<([^<>]+)>$/u;

export interface Mailbox {
  name?: string;
  address: string;
}

/** Accepts exactly one e-mail address, without name, list, comment or line break. */
export const isMailAddress = (text: string): boolean => ADDRESS.test(text);

/**
 * The mailbox in which mails to an address arrive, for counting them: in lowercase, without the
 * part after a plus, which most servers ignore.
 */
export function toMailbox(address: string): string {
  const [local = '', domain = ''] = address.toLowerCase().split('@');
  return `${local.split('+')[0]}@${domain}`;
}

/**
 * Parses `a@b.c`, `Name <a@b.c>` or `"Name, Inc." <a@b.c>`. Undefined for everything else, such as
 * more than one address.
 */
export function parseMailbox(text: string): Mailbox | undefined {
  if (isMailAddress(text)) return { address: text };
  const [, quoted, words, address] = NAMED_MAILBOX.exec(text) ?? [];
  if (!address || !isMailAddress(address)) return undefined;
  const name = (quoted ?? words)?.trim();
  return name ? { name, address } : { address };
}
