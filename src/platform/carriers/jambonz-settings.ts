export interface JambonzSettings {
  base_url: string | undefined;
  account_sid: string | undefined;
  api_key: string | undefined;
  application_sid: string | undefined;
  /** The key of the signatures of its requests. */
  webhook_secret: string | undefined;
}

interface Variables {
  JAMBONZ_BASE_URL: string | undefined;
  JAMBONZ_ACCOUNT_SID: string | undefined;
  JAMBONZ_API_KEY: string | undefined;
  JAMBONZ_APPLICATION_SID: string | undefined;
  JAMBONZ_WEBHOOK_SECRET: string | undefined;
}

export const toJambonzSettings = (values: Variables): JambonzSettings => ({
  base_url: values.JAMBONZ_BASE_URL,
  account_sid: values.JAMBONZ_ACCOUNT_SID,
  api_key: values.JAMBONZ_API_KEY,
  application_sid: values.JAMBONZ_APPLICATION_SID,
  webhook_secret: values.JAMBONZ_WEBHOOK_SECRET,
});

const REQUIRED = [
  'JAMBONZ_BASE_URL',
  'JAMBONZ_ACCOUNT_SID',
  'JAMBONZ_API_KEY',
  'JAMBONZ_APPLICATION_SID',
  'JAMBONZ_WEBHOOK_SECRET',
  'PUBLIC_URL',
];

/** Texts about settings that the carrier needs and does not have. */
export const findJambonzFaults = (set: Record<string, string | undefined>): string[] =>
  set.CARRIER === 'jambonz'
    ? REQUIRED.filter((name) => set[name] === undefined).map(
        (name) => `${name} must be given with CARRIER=jambonz`,
      )
    : [];
