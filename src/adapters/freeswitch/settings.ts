import { buildEndpoint, buildTrunkEndpoint, type DialSettings } from '../service/dialing';
import type { DialBuyer, ServiceSettings } from '../service/service';
import type { SpeechSettings } from '../service/speech';

export interface FreeswitchSettings extends DialSettings, SpeechSettings {
  service: ServiceSettings;
  /** Headers of the caller's INVITE that are passed on. */
  headers: string[];
  /** Where FreeSWITCH records, and this process reads. */
  recordings_dir: string;
}

/** Without the characters by which FreeSWITCH separates legs, variables and expressions. */
const ONE_LEG = /^[\w/.:@+*#;=%~?&-]+$/;
/** Separates legs too. */
const ENTERPRISE = ':_:';

/** The leg that FreeSWITCH dials; undefined for what it must not be given. */
export function buildLegEndpoint(
  number: string,
  trunk: DialBuyer['trunk'],
  settings: DialSettings,
): string | undefined {
  const endpoint = trunk ? buildTrunkEndpoint(trunk, settings) : buildEndpoint(number, settings);
  if (endpoint === undefined || !ONE_LEG.test(endpoint) || endpoint.includes(ENTERPRISE))
    return undefined;
  return endpoint;
}
