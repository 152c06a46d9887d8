import { sendRequest, type Answer } from './carrier-api';
import { toParams, type Account, type Dialect, type Fields } from './dialects/dialect';
import { toFailureCode } from './twilio-words';

/** An account at a carrier that speaks TwiML. */
export interface Line {
  dialect: Dialect;
  account: Account;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** As in Twilio's REST: after /2010-04-01/Accounts/{sid}/, without .json. */
  path: string;
  fields: Fields;
  key?: string;
  signal: AbortSignal;
}

/** Sends one request once, as the carrier's dialect has it. */
export function ask(
  { dialect, account }: Line,
  { method, path, fields, key, signal }: ApiRequest,
): Promise<Answer> {
  const url = dialect.buildUrl(account, path);
  const query = method === 'POST' ? '' : toParams(fields).toString();
  const encoded = method === 'POST' ? dialect.encode(account, path, fields) : undefined;
  const headers = {
    authorization: dialect.authorize(account),
    ...(key && dialect.idempotency_header && { [dialect.idempotency_header]: key }),
    ...(encoded && { 'content-type': encoded.content_type }),
  };
  return sendRequest(
    { url: query ? `${url}?${query}` : url, method, headers, body: encoded?.body, signal },
    (code) => toFailureCode(code, dialect),
  );
}
