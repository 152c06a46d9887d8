import type { Done } from './carrier';
import { ask, type Account, type Fields } from './twilio-api';
import { callStatusOf } from './twilio-words';

// Requests about the leg to one buyer, where <Dial> treats all that ring at once alike.

interface Service {
  account: Account;
  timeout_ms: number;
}

/** `canceled` ends a call that is queued or rings, and changes nothing about one in progress. */
export async function stopRinging(service: Service, sid: string): Promise<Done> {
  const answer = await postTo(service, `Calls/${encodeURIComponent(sid)}`, { Status: 'canceled' });
  if (!answer.ok) return answer;
  const status = callStatusOf(String(answer.body.status));
  return status === 'in_progress'
    ? { ok: false, retryable: false, code: 'not_live', message: 'The leg has been answered.' }
    : { ok: true };
}

export async function startRecording(
  service: Service,
  sid: string,
  report_to: string,
): Promise<Done> {
  const answer = await postTo(service, `Calls/${encodeURIComponent(sid)}/Recordings`, {
    RecordingStatusCallback: report_to,
    RecordingStatusCallbackEvent: ['completed'],
  });
  return answer.ok ? { ok: true } : answer;
}

const postTo = (service: Service, path: string, fields: Fields) =>
  ask(service.account, {
    method: 'POST',
    path,
    fields,
    signal: AbortSignal.timeout(service.timeout_ms),
  });
