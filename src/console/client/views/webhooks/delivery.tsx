import type { ComponentChild } from 'preact';
import { dayTime, localizeTimes } from '../../format';
import { RecordName } from '../../noun/record-name';
import type { PanelProps } from '../../nouns/layout';
import { describeEvent } from '../../nouns/webhook-words';
import { Badge, Facts, Panel } from '../../parts/basics';
import { linkTo } from '../../route';
import type { Json } from '../../transport';

/** A status, or why there was none. */
export const describeResult = ({ code, success }: Json): ComponentChild => (
  <Badge tone={success === true ? 'good' : 'bad'}>
    {success === true ? 'accepted' : 'failed'}
    {code === null ? '' : ` · ${String(code)}`}
  </Badge>
);

/** Why it failed and what comes next, with its times as people read them. */
export const describeNotes = ({ notes }: Json): string =>
  notes === null ? '' : localizeTimes(String(notes));

/** JSON is read more easily in lines. */
export function toReadable(body: unknown): string {
  if (body === null || body === undefined || body === '') return '(empty)';
  const text = String(body);
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const toLines = (headers: unknown): string =>
  Object.entries((headers ?? {}) as Record<string, string>)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** An attempt to deliver: when, about what, and how it ended. */
export function DeliveryFacts({ record }: PanelProps) {
  const { outgoing_webhook_id: webhook, call_id: call, lead_id: lead } = record;
  return (
    <Panel title="Delivery">
      <Facts
        facts={[
          ['Webhook', <RecordName key="webhook" noun="outgoing_webhooks" id={webhook} />],
          ['Event', describeEvent(record)],
          ['Result', describeResult(record)],
          ['Why', describeNotes(record)],
          ['Sent', dayTime(record.started_at as string | null)],
          ['Took', `${String(record.duration)} ms`],
          ['Attempt', String(record.attempt)],
          [
            'Call',
            call !== null && <a href={linkTo('calls', String(call))}>Call {String(call)}</a>,
          ],
          [
            'Lead',
            lead !== null && <a href={linkTo('leads', String(lead))}>Lead {String(lead)}</a>,
          ],
          ['Buyer', <RecordName key="buyer" noun="buyers" id={record.buyer_id} />],
          ['webhook-id', record.event_id as string],
        ]}
      />
    </Panel>
  );
}

/** The request as it was sent, and the answer to it. */
export function DeliveryBodies({ record }: PanelProps) {
  return (
    <Panel title="Request and answer">
      <h3>
        {String(record.request_method)} {String(record.request_url)}
      </h3>
      <Text label="Headers of the request" text={toLines(record.request_headers)} isFolded />
      <Text label="Body of the request" text={toReadable(record.request_body)} />
      <h3>Answer {record.code === null ? 'never came' : String(record.code)}</h3>
      <Text label="Headers of the answer" text={toLines(record.response_headers)} isFolded />
      <Text label="Body of the answer" text={toReadable(record.response_body)} />
    </Panel>
  );
}

interface TextProps {
  label: string;
  text: string;
  isFolded?: boolean;
}

function Text({ label, text, isFolded }: TextProps) {
  const body = (
    <pre class="code preview" role="region" aria-label={label} tabIndex={0}>
      {text}
    </pre>
  );
  if (!isFolded) return body;
  return (
    <details>
      <summary>{label}</summary>
      {body}
    </details>
  );
}
