import { copyText } from '../../clipboard';
import type { PanelProps } from '../../nouns/layout';
import { Panel } from '../../parts/basics';
import type { Json } from '../../transport';

/** The text that a seller of calls needs, ready to be sent to them. */
export function writeInstructions(webhook: Json, origin: string): string {
  const url = (path: unknown) => `${origin}${String(path)}`;
  const token = webhook.has_auth_token === true ? `\n  "auth_token": "YOUR TOKEN",` : '';
  const example = (more: string) =>
    `{${token}\n  "caller_id": "+13105550123",${more}\n  "sub_id": "your own id",\n  "data": { "state": "CA", "zip": "90012" }\n}`;
  return [
    `How to send calls to ${String(webhook.name)}`,
    '',
    '1. Ask: which buyers would take this call, and what do they pay?',
    `POST ${url(webhook.ping_path)}`,
    'Content-Type: application/json',
    '',
    example(''),
    '',
    `The answer has the buyers in order, each with its payout and a ping_id. The first is held for ${String(webhook.hold_seconds)} seconds.`,
    'If nobody takes the call, "success" is false and "errors" says why.',
    '',
    '2. Hand the call over, within that time:',
    `POST ${url(webhook.post_path)}`,
    'Content-Type: application/json',
    '',
    example('\n  "ping_id": "from the answer",'),
    '',
    'The answer has the number to forward the caller to.',
    '',
    'Or both in one request:',
    `POST ${url(webhook.full_path)}`,
  ].join('\n');
}

/** Posting instructions of an endpoint, to copy for a seller. */
export function PostingInstructions({ record }: PanelProps) {
  const text = writeInstructions(record, location.origin);
  return (
    <Panel
      title="Posting instructions"
      wide
      headerContent={
        <button type="button" onClick={() => void copyText(text)}>
          Copy
        </button>
      }
    >
      <pre class="code preview" role="region" aria-label="Posting instructions" tabIndex={0}>
        {text}
      </pre>
    </Panel>
  );
}
