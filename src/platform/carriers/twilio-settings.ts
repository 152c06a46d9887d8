export interface TwilioSettings {
  account_sid: string | undefined;
  auth_token: string | undefined;
  base_url: string;
  /** True if it can ask buyers for a key before it connects them. */
  can_whisper: boolean;
}

interface Variables {
  TWILIO_ACCOUNT_SID: string | undefined;
  TWILIO_AUTH_TOKEN: string | undefined;
  TWILIO_BASE_URL: string;
  TWILIO_CAN_WHISPER: boolean;
}

export const toTwilioSettings = (values: Variables): TwilioSettings => ({
  account_sid: values.TWILIO_ACCOUNT_SID,
  auth_token: values.TWILIO_AUTH_TOKEN,
  base_url: values.TWILIO_BASE_URL,
  can_whisper: values.TWILIO_CAN_WHISPER,
});
