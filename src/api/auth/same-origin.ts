import type { Request } from 'express';
import { HttpProblem } from '../../platform/errors';

interface OwnAddress {
  public_url: string;
}

/**
 * Throws 403 unless a page of this service makes the request, as browsers say themselves: by
 * Sec-Fetch-Site, where they trust the connection, or by Origin, which they send with all but GET.
 * A GET without either changes nothing, and no other page can read its answer.
 */
export function requireSameOrigin(req: Request, own: OwnAddress): void {
  const site = req.get('Sec-Fetch-Site');
  if (site === undefined ? isOwnOrigin(req, own) : site === 'same-origin') return;
  throw new HttpProblem(
    'foreign_origin',
    'Only the console itself may send this: a page of the same origin.',
  );
}

function isOwnOrigin(req: Request, { public_url }: OwnAddress): boolean {
  const origin = req.get('Origin');
  if (origin === undefined) return req.method === 'GET' || req.method === 'HEAD';
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  const isDowngraded = protocol === 'http:' && public_url.startsWith('https:');
  return !isDowngraded && [req.get('Host'), new URL(public_url).host].includes(host);
}
