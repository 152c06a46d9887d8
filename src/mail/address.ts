const ADDRESS =
  /^[^\s\p{Cc}@<>,;:"()[\]\\]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z0-9-]{2,63}$/u;
/** Bare words, or anything but quotes and backslashes between quotes. */
const NAMED = /^(?:"([^"\\\p{Cc}]{0,200})"|([^"\\\p{Cc}@<>,;:()[\]]{0,200}?))\s*<([^<>]+)>$/u;

export interface Mailbox {
  name?: string;
  address: string;
}

/** Whether a text is exactly one e-mail address: no name, list, comment, quotes or line break. */
export const isMailAddress = (text: string): boolean => ADDRESS.test(text);

/** Reads `a@b.c`, `Name <a@b.c>` or `"Name, Inc." <a@b.c>`; undefined for everything else, above all for more than one address. */
export function parseMailbox(text: string): Mailbox | undefined {
  if (isMailAddress(text)) return { address: text };
  const [, quoted, words, address] = NAMED.exec(text) ?? [];
  if (!address || !isMailAddress(address)) return undefined;
  const name = (quoted ?? words)?.trim();
  return name ? { name, address } : { address };
}
