import { createHmac, timingSafeEqual } from 'node:crypto';

/** Purpose of a link: the prefix of its tokens, and the label in their digests. */
export interface LinkKind {
  prefix: string;
  label: string;
}

/** The record that a link is about, and the sequence number of the link. */
export interface LinkTarget {
  company_id: bigint;
  id: bigint;
  number: number;
}

/**
 * The token in a mailed link: its target, and a keyed digest of it. It is not stored: nothing in
 * the database opens a link, and repeated mails of a link have the same token.
 */
export function linkToken(
  { prefix, label }: LinkKind,
  { company_id, id, number }: LinkTarget,
  pepper: string,
): string {
  const targetText = `${company_id}-${id}-${number}`;
  const digest = createHmac('sha256', pepper).update(`${label}/${targetText}`).digest('hex');
  return `${prefix}-${targetText}-${digest}`;
}

/** The target of a token; undefined if the token was not made here. */
export function readLinkToken(
  kind: LinkKind,
  token: string,
  pepper: string,
): LinkTarget | undefined {
  const [, prefix, company = '', id = '', number = ''] =
    /^([a-z]+)-(\d{1,15})-(\d{1,15})-(\d{1,9})-[0-9a-f]{64}$/.exec(token) ?? [];
  if (prefix !== kind.prefix) return undefined;
  const target = { company_id: BigInt(company), id: BigInt(id), number: Number(number) };
  const right = linkToken(kind, target, pepper);
  return right.length === token.length && timingSafeEqual(Buffer.from(right), Buffer.from(token))
    ? target
    : undefined;
}
