import { useState } from 'preact/hooks';
import { useAction, useEvery } from '../../loading';
import type { PanelProps } from '../../nouns/layout';
import { Panel, Problem } from '../../parts/basics';
import { linkTo } from '../../route';
import { useSession } from '../../session';
import { send, type Json } from '../../transport';
import { describeNotes, describeResult, toReadable } from './delivery';

const POLL_MS = 1_000;

/** The things that a webhook can be tried with. */
const SUBJECTS = [
  { noun: 'calls', field: 'call_id', title: 'newest call' },
  { noun: 'leads', field: 'lead_id', title: 'newest lead' },
] as const;
type Subject = (typeof SUBJECTS)[number];

/** Fires a webhook by hand and shows the delivery, with both bodies, as soon as there is one. */
export function WebhookTest({ record }: PanelProps) {
  const { transport, may } = useSession();
  const [fireId, setFireId] = useState<string>();
  const [log, setLog] = useState<Json>();
  const { run, error, is_busy } = useAction(async ({ noun, field, title }: Subject) => {
    setLog(undefined);
    const { data } = await send(transport, 'GET', `/${noun}`, {
      query: { per_page: 1, order_dir: 'desc', columns: ['id'] },
    });
    const [newest] = data[noun] as Json[];
    if (!newest) throw new Error(`There is no ${title} yet to try it with.`);
    const body = { outgoing_webhook_id: String(record.id), [field]: String(newest.id) };
    const { data: answer } = await send(transport, 'POST', '/webhook_manual_fires', { body });
    setFireId(String((answer.webhook_manual_fire as Json).id));
  });
  useEvery(POLL_MS, () => {
    if (fireId === undefined || !may('webhook_logs:read')) return;
    void findLog(transport, fireId).then((delivery) => {
      if (!delivery) return;
      setLog(delivery);
      setFireId(undefined);
    });
  });
  if (!may('webhook_manual_fires:create')) return null;
  return (
    <Panel title="Try it">
      <p class="quiet">Sends a real request, about the newest call or lead.</p>
      <div class="actions">
        {SUBJECTS.map((subject) => (
          <button
            key={subject.noun}
            type="button"
            disabled={is_busy || fireId !== undefined}
            onClick={() => void run(subject)}
          >
            Send with the {subject.title}
          </button>
        ))}
      </div>
      <Problem error={error} />
      <div role="status">
        {fireId !== undefined &&
          (record.paused === true
            ? 'The webhook is paused: it is sent when it is resumed.'
            : 'On its way…')}
        {log && <Result log={log} />}
      </div>
    </Panel>
  );
}

async function findLog(
  transport: ReturnType<typeof useSession>['transport'],
  fireId: string,
): Promise<Json | undefined> {
  const { data } = await send(transport, 'GET', `/webhook_manual_fires/${fireId}`);
  const [id] = (data.webhook_manual_fire as Json).webhook_log_ids as unknown[];
  if (id === undefined) return undefined;
  return (await send(transport, 'GET', `/webhook_logs/${String(id)}`)).data.webhook_log as Json;
}

const Result = ({ log }: { log: Json }) => (
  <>
    <p>
      {describeResult(log)} {describeNotes(log)}{' '}
      <a href={linkTo('webhook_logs', String(log.id))}>The delivery</a>
    </p>
    <details>
      <summary>Sent</summary>
      <pre class="code preview">{toReadable(log.request_body)}</pre>
    </details>
    <details open>
      <summary>Answered</summary>
      <pre class="code preview">{toReadable(log.response_body)}</pre>
    </details>
  </>
);
