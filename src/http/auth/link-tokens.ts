import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a link is for: how its tokens begin, and what their digests are made of. */
export interface LinkKind {
  prefix: string;
  label: string;
}

/** The record of a company that a link is about, and which of its links it is. */
export interface LinkTarget {
  company_id: bigint;
  id: bigint;
  number: number;
}

/**
 * The token in a link that is mailed: what it is about, and a keyed digest of that. It is not
 * stored: nothing in the database opens a link, and every mail of one link has the same.
 */
export function linkToken(
  { prefix, label }: LinkKind,
  { company_id, id, number }: LinkTarget,
  pepper: string,
): string {
  const named = `${company_id}-${id}-${number}`;
  const digest = createHmac('sha256', pepper).update(`${label}/${named}`).digest('hex');
  return `${prefix}-${named}-${digest}`;
}

/** What a token is about; undefined where it is not ours. */
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
