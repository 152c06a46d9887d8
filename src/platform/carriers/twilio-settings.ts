import { selectDialect } from './dialects';
import { DIALECT_NAMES, type DialectName, type Variable } from './dialects/dialect';

export interface TwilioSettings {
  dialect: DialectName;
  account_sid: string | undefined;
  auth_token: string | undefined;
  /** The key of the signatures of the carrier's requests. */
  signing_key: string | undefined;
  base_url: string | undefined;
  application_id: string | undefined;
  /** Overrides the capability of the dialect. */
  can_whisper: boolean | undefined;
}

interface Variables {
  TWILIO_DIALECT: DialectName;
  TWILIO_ACCOUNT_SID: string | undefined;
  TWILIO_AUTH_TOKEN: string | undefined;
  TWILIO_SIGNING_KEY: string | undefined;
  TWILIO_BASE_URL: string | undefined;
  TWILIO_CAN_WHISPER: boolean | undefined;
  TELNYX_APPLICATION_ID: string | undefined;
}

export function toTwilioSettings(values: Variables): TwilioSettings {
  const dialect = values.TWILIO_DIALECT;
  return {
    dialect,
    account_sid: values.TWILIO_ACCOUNT_SID,
    auth_token: values.TWILIO_AUTH_TOKEN,
    signing_key: values.TWILIO_SIGNING_KEY ?? values.TWILIO_AUTH_TOKEN,
    base_url: values.TWILIO_BASE_URL ?? selectDialect({ dialect }).base_url,
    application_id: values.TELNYX_APPLICATION_ID,
    can_whisper: values.TWILIO_CAN_WHISPER,
  };
}

type Environment = Record<string, string | undefined>;

const REQUIRED = ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'PUBLIC_URL'];

/** Texts about settings that the carrier needs and does not have. */
export function findTwilioFaults(set: Environment): string[] {
  if (set.CARRIER !== 'twilio') return [];
  const name = DIALECT_NAMES.find((dialect) => dialect === (set.TWILIO_DIALECT ?? 'twilio'));
  const faults = listMissing(set, REQUIRED, 'CARRIER=twilio');
  return name ? [...faults, ...findDialectFaults(set, name)] : faults;
}

function findDialectFaults(set: Environment, name: DialectName): string[] {
  const dialect = selectDialect({ dialect: name });
  const faults = listMissing(set, dialect.required, `TWILIO_DIALECT=${name}`);
  const { TWILIO_SIGNING_KEY: key, TWILIO_BASE_URL: url = '' } = set;
  const keyFault = key === undefined ? undefined : dialect.findKeyFault?.(key);
  if (keyFault) faults.push(`TWILIO_SIGNING_KEY ${keyFault}`);
  // The credentials of one carrier are no business of another.
  if (name !== 'twilio' && /\/\/api\.twilio\.com\b/i.test(url))
    faults.push(`TWILIO_BASE_URL must be an address of ${dialect.label}, not Twilio's`);
  return faults;
}

const listMissing = (
  set: Environment,
  names: readonly (Variable | string)[],
  setting: string,
): string[] =>
  names
    .filter((name) => set[name] === undefined)
    .map((name) => `${name} must be given with ${setting}`);
