import { randomUUID } from 'node:crypto';
import { openCarrier, type CarrierOptions } from '../../../src/platform/carriers';
import type { CallRequest, SmsRequest } from '../../../src/platform/carriers/carrier';
import type { TwilioServer } from '../../support/twilio-server';

export const PUBLIC_URL = 'https://calls.example.com';
export const FROM = '+12025550199';
export const TO = '+13105550150';

export const sms = (more: Partial<SmsRequest> = {}): SmsRequest => ({
  key: randomUUID(),
  from: FROM,
  to: TO,
  body: 'Hello — your agent is José & "co" 👋',
  ...more,
});

export const call = (more: Partial<CallRequest> = {}): CallRequest => ({
  key: randomUUID(),
  from: FROM,
  to: TO,
  connect_to: '+13105550160',
  timeout_seconds: 30,
  ...more,
});

export const ago = (ms: number): Date => new Date(Date.now() - ms);

/** The carrier of a server on loopback. */
export const openTwilio = (
  { account_sid, auth_token, application_id, base_url, dialect }: TwilioServer,
  more: CarrierOptions = {},
) =>
  openCarrier('twilio', {
    account_sid,
    auth_token,
    ...{ application_id, base_url, dialect },
    public_url: `${PUBLIC_URL}/`,
    ...more,
  });
