import type { Request } from 'express';
import { SIGNATURE_HEADERS, type SignatureCheck } from '../../platform/carriers/signature-checks';
import { queryByKey, type Directory } from '../../data/directory';
import { HttpProblem } from '../../platform/errors';
import { FIND_NUMBER_OWNER } from './queries/carrier-numbers';
import { anonymousCaller } from './caller';
import type { FailedAttempts } from './failed-attempts';
import { readField } from './fields';
import type { Scheme } from './scheme';
import { parseOwnNumber } from '../../data/phone/parse-number';

export interface CarrierOptions {
  /** One is enough; without any, every request is refused. */
  signature_checks: readonly SignatureCheck[];
  /** The address the carrier knows this service by. */
  public_url: string;
}

/**
 * Authenticates by the signature of a carrier. The company is the one that has the number in the
 * field `own_number` of the contract: `To` by default.
 */
export function carrierSignatureScheme(
  directory: Directory,
  carrier: CarrierOptions,
  { failures, clock }: { failures: FailedAttempts; clock: () => Date },
): Scheme {
  return {
    authenticate: async (req, { own_number = 'To' }) => {
      if (!hasValidSignature(req, carrier, clock()))
        throw await failures.problemFor(req, hasSignature(req));
      const phoneNumber = readOwnNumber(req, own_number);
      const [owner] = phoneNumber
        ? await queryByKey(directory, ['number', phoneNumber], (sql) =>
            sql(FIND_NUMBER_OWNER, { phone_number: phoneNumber }),
          )
        : [];
      if (!owner)
        throw new HttpProblem(
          'not_found',
          `${own_number} is not a telephone number of this service.`,
        );
      const caller = anonymousCaller(BigInt(owner.company_id), owner.company_name);
      return { caller, owner: undefined };
    },
  };
}

const hasSignature = (req: Request): boolean =>
  SIGNATURE_HEADERS.some((header) => req.get(header) !== undefined);

function hasValidSignature(
  req: Request,
  { signature_checks, public_url }: CarrierOptions,
  receivedAt: Date,
): boolean {
  const signed = {
    url: public_url + req.originalUrl,
    form: readForm(req),
    form_text: req.form_text,
    json_text: req.signed_text,
    received_at: receivedAt,
    getHeader: (name: string) => req.get(name),
  };
  return signature_checks.some((isSigned) => isSigned(signed));
}

const readForm = (req: Request) => (req.body ?? {}) as Record<string, string>;

/** Some carriers repeat the data that they were given with a call or a leg (`customerData`). */
function readOwnNumber({ body, query }: Request, field: string): string | undefined {
  const texts = [
    readText(readField(body, 'customerData'), 'number'),
    readText(body, field),
    readText(query, field),
  ];
  return texts
    .map((text) => parseOwnNumber(text))
    .find((number) => number !== undefined)
    ?.toString();
}

function readText(source: unknown, field: string): string {
  const value = readField(source, field);
  return typeof value === 'string' ? value : '';
}
