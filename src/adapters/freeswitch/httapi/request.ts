/** A request of mod_httapi: the form that it posts about a channel. */
export interface HttapiRequest {
  /** The uuid that FreeSWITCH has for the channel. */
  channel: string;
  /** The channel has ended. */
  is_exiting: boolean;
  field(name: string): string | undefined;
  /** A variable of the channel; undefined where it has none. */
  variable(name: string): string | undefined;
  listVariables(prefix: string): string[];
}

/** Commands to FreeSWITCH have it in them. */
const CHANNEL = /^[\w.@:-]{1,256}$/;

export const isChannel = (text: string): boolean => CHANNEL.test(text);

/** Without it a request does not say what the channel was doing. */
const ALL_DATA = 'full_channel_data_on_every_req';

/** Returns undefined for what is no request about a channel. */
export function readRequest(body: string): HttapiRequest | undefined {
  const form = new URLSearchParams(body);
  const field = (name: string) => form.get(name) || undefined;
  const channel = field('session_id');
  if (channel === undefined || !isChannel(channel)) return undefined;
  if (field(ALL_DATA) !== 'true') throw new Error(`httapi is run without {${ALL_DATA}=true}`);
  return {
    channel,
    is_exiting: field('exiting') === 'true',
    field,
    variable: (name) => field(`variable_${name}`),
    listVariables: (prefix) =>
      [...form.keys()]
        .filter((name) => name.startsWith(`variable_${prefix}`))
        .map((name) => name.slice('variable_'.length)),
  };
}
