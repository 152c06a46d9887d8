import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { DialectName } from '../../src/platform/carriers/dialects/dialect';
import type { CarrierKeys } from './carrier-models';

export type Resource = Record<string, string | null | object> & { sid: string };

export interface TwilioRequest {
  method: string;
  /** Behind /2010-04-01/Accounts/{sid}/, as Twilio has it. */
  path: string;
  query: URLSearchParams;
  form: URLSearchParams;
  headers: IncomingMessage['headers'];
}

/**
 * Faults of the next requests: a status, silence, or a connection that breaks before or after the
 * request was carried out.
 */
export type Trouble =
  | { status: number; code?: number; text?: string; location?: string }
  | 'hang'
  | 'break'
  | 'break after accepting'
  | 'hang after accepting';

export interface TwilioServer {
  url: string;
  /** Where its REST is. */
  base_url: string;
  dialect: DialectName;
  account_sid: string;
  auth_token: string;
  keys: CarrierKeys;
  application_id: string;
  /** Signs requests as if at this time. */
  clock: () => Date;
  /** Everything that came with the right credentials, oldest first. */
  requests: TwilioRequest[];
  messages: Resource[];
  calls: Resource[];
  numbers: Resource[];
  /** Numbers for sale, as + and digits; the account's own drop out. */
  stock: string[];
  /** Lists have all records, whatever is asked for. */
  ignores_filters: boolean;
  max_page_size: number;
  /** Next come these troubles, one a request; `only` leaves requests of the other method alone. */
  trouble(troubles: Trouble[], only?: 'GET' | 'POST' | 'DELETE'): void;
  /** Sends the final status callbacks of everything accepted since, and returns their statuses. */
  settle(): Promise<number[]>;
  /** Sends a signed webhook. */
  hook(url: string, params: Record<string, string>): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
}

export interface State extends Omit<TwilioServer, 'trouble' | 'settle' | 'hook' | 'close'> {
  troubles: Trouble[];
  only?: string;
  pending: { url: string; params: Record<string, string> }[];
}

export interface Refused {
  status: number;
  code: number;
  message: string;
}

export type Reply = { status: number; body: object };

export const refusal = ({ status, code, message }: Refused): Reply => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});
export const NOT_FOUND: Refused = {
  status: 404,
  code: 20404,
  message: 'The requested resource was not found',
};

export const buildSid = (prefix: string): string => prefix + randomBytes(16).toString('hex');
