import type { Schemas } from '../../platform/contract/contract';
import { toKey } from '../../data/references';
import { Prisma } from '../../generated/prisma/client';
import type { Db } from '../../data/db';
import {
  findTemplateHeaderFault,
  findTemplateUrlFault,
} from '../../platform/egress/refused-templates';
import { findSelectorFault } from '../../platform/egress/response-values';
import { formatSecret } from '../../platform/egress/standard-webhooks';
import { HttpProblem, invalid, type FieldFaults } from '../../platform/errors';

type BuyerFields = Schemas['BuyerFields'];

const SETTINGS = ['bid_request', 'bid_response'] as const;

/** Columns of the bid settings. Timeouts are stored in whole milliseconds. */
export function bidColumns(fields: BuyerFields) {
  const { ping_timeout_seconds: seconds } = fields;
  const json = (value: object | null) => value ?? Prisma.DbNull;
  return {
    ...(seconds !== undefined && {
      ping_timeout_ms: seconds === null ? null : Math.round(seconds * 1000),
      // Releases before this one read whole seconds.
      ping_timeout_seconds: seconds === null ? null : Math.ceil(seconds),
    }),
    ...Object.fromEntries(
      SETTINGS.flatMap((name) => {
        const value = fields[name];
        return value === undefined ? [] : [[name, json(value)]];
      }),
    ),
  };
}

/** True when writing the fields takes more than setting columns: a check or a new secret. */
export const areBidSettings = (fields: BuyerFields): boolean =>
  fields.buyer_type === 'rtb' || SETTINGS.some((name) => fields[name] !== undefined);

/**
 * Checks the bid settings, with the stored ones for fields that are not sent. Throws 422 naming the
 * wrong field.
 */
export function requireBidSettings(
  fields: BuyerFields,
  before: { buyer_type: string; bid_request: unknown } | undefined,
  allowNetworks: readonly string[],
): void {
  const { bid_request: request, bid_response: paths } = fields;
  const faults: FieldFaults = {};
  const isBidder = (fields.buyer_type ?? before?.buyer_type) === 'rtb';
  const hasRequest = request === undefined ? Boolean(before?.bid_request) : request !== null;
  if (isBidder && !hasRequest)
    faults.bid_request = [
      {
        code: 'missing_field',
        message: 'must be given for a buyer of type rtb: it says how to ask it for bids',
      },
    ];
  const url = request && findTemplateUrlFault(request.url, allowNetworks);
  if (url) faults['bid_request.url'] = invalid(url);
  const headers = request?.headers && findTemplateHeaderFault(request.headers);
  if (headers) faults['bid_request.headers'] = invalid(headers);
  for (const [name, path] of Object.entries(paths ?? {})) {
    const refused = findSelectorFault(path);
    if (refused) faults[`bid_response.${name}`] = invalid(refused);
  }
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

/** Replaces the secret that signs the bid requests of a buyer, and returns the new one. */
export async function resetBidSecret(
  tx: Db,
  id: bigint,
  { pepper, now }: { pepper: string; now: Date },
): Promise<string> {
  const { uuid, bid_secret_version } = await tx.prisma.buyer.update({
    where: toKey(tx, id),
    data: { bid_secret_version: { increment: 1 }, bid_secret_rotated_at: now },
    select: { uuid: true, bid_secret_version: true },
  });
  return formatSecret(pepper, { uuid, secret_version: bid_secret_version });
}
