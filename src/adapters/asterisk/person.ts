import type { Logger } from 'pino';
import { APP, type Ari, type Channel } from './ari/ari';
import { restore, type Live } from './begin';
import { buildCall, buildPersonChannel, type Call, type Input } from './call/call';
import type { Service, Command } from '../service/service';
import type { AsteriskSettings } from './settings';
import { buildEndpoint } from '../service/dialing';

// Calls that the service has this switch place. The person is the caller of the call that follows.

const RING_SECONDS = 30;

/** Such a call has its uuid as `call_sid` too. */
export const buildPersonCall = (uuid: string): Call =>
  buildCall(buildPersonChannel(uuid), { sid: uuid, uuid, is_outbound: true, phase: 'calling' });

/** Dials the person. Throws if Asterisk does not. */
export async function dialPerson(
  { number, caller_id, timeout_seconds, detect_machine, call_uuid }: Command,
  { ari, settings }: { ari: Ari; settings: AsteriskSettings },
): Promise<void> {
  const endpoint = buildEndpoint(number ?? '', settings);
  if (endpoint === undefined) throw new Error('this is no number that can be dialed');
  await ari.ask({
    ...{ method: 'POST', path: '/channels' },
    query: {
      ...{ endpoint, channelId: buildPersonChannel(call_uuid), app: APP },
      appArgs: `person,${detect_machine ?? ''}`,
      timeout: String(timeout_seconds ?? RING_SECONDS),
      callerId: caller_id ?? 'anonymous',
    },
  });
}

const PERSON = buildPersonChannel('');

/** The uuid of the call in the name of its channel; undefined for another channel. */
export const readPersonUuid = ({ id }: Channel): string | undefined =>
  id.startsWith(PERSON) ? id.slice(PERSON.length) : undefined;

export interface ResumeEdges {
  ari: Ari;
  service: Pick<Service, 'readCall'>;
  log: Logger;
}

/** A person's call that was there before this process: where it is now. */
export async function* resumePerson(
  uuid: string,
  { channel, live }: { channel: Channel; live: Live },
  { ari, service, log }: ResumeEdges,
): AsyncGenerator<Input> {
  if (channel.state !== 'Up') return;
  try {
    const session = await service.readCall(uuid);
    const { action, dial } = session.instruction;
    // No buyer is dialed: the answer of the person was not reported.
    const isNew = action === 'wait' && dial.length === 0;
    if (!isNew) {
      yield { type: 'restored', call: { phase: 'dialing' } };
      yield* await restore([{ type: 'session', session }], { channel, live, ari });
    } else if (channel.dialplan.app_name === 'Stasis')
      yield { type: 'person_up', detect: undefined };
  } catch (error) {
    log.warn({ err: error, call_uuid: uuid }, 'a call was not resumed');
  }
}
