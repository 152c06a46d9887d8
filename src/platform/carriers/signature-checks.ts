import { DIALECTS, selectDialect, type DialectChoice } from './dialects';
import type { SignedRequest } from './dialects/dialect';
import { isSignedByJambonz, JAMBONZ_SIGNATURE } from './jambonz-signature';

/** For requests that carry no valid signature: one of these headers is an attempt to sign it. */
export const SIGNATURE_HEADERS: readonly string[] = [
  ...new Set(Object.values(DIALECTS).flatMap(({ signature_headers }) => signature_headers)),
  JAMBONZ_SIGNATURE,
];

/** True if the carrier, which shares a key with this service, has signed a request. */
export type SignatureCheck = (request: SignedRequest) => boolean;

interface SigningSettings {
  twilio: DialectChoice & { signing_key: string | undefined };
  jambonz: { webhook_secret: string | undefined };
}

/** One check for each key that there is: without any, every request is refused. */
export function listSignatureChecks({ twilio, jambonz }: SigningSettings): SignatureCheck[] {
  const { signing_key: key } = twilio;
  const { webhook_secret: secret } = jambonz;
  const dialect = selectDialect(twilio);
  return [
    ...(key ? [(request: SignedRequest) => dialect.isSigned(request, key)] : []),
    ...(secret ? [(request: SignedRequest) => isSignedByJambonz(request, secret)] : []),
  ];
}
