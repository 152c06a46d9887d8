import { useState } from 'preact/hooks';
import { copyText } from '../clipboard';
import type { PanelProps } from '../nouns/layout';
import { Panel } from '../parts/basics';
import { docsLink } from '../route';

/** A text to be copied, as tokens and examples are. */
export function CopyText({ label, text }: { label: string; text: string }) {
  return (
    <div class="copy-text" role="group" aria-label={label}>
      <code>{text}</code>
      <button type="button" aria-label={`Copy ${label}`} onClick={() => void copyText(text)}>
        Copy
      </button>
    </div>
  );
}

/** Where landing pages send leads: the path for programs, also in a signed-in page. */
const LEADS_URL = `${location.origin}/api/v1/leads`;

export const buildPostingExample = (token: string): string =>
  `curl ${LEADS_URL} -d lead_token=${token} -d caller_id='(213) 555-0147' -d first_name=Ann -d state=CA`;

/** How a landing page sends leads to an offer. */
export function PostingInstructions({ record }: PanelProps) {
  const [isOpen, setOpen] = useState(false);
  const token = record.lead_token;
  if (typeof token !== 'string') return null;
  return (
    <Panel title="Sending leads to it">
      <p>
        A landing page sends this token with each lead. Give each publisher a token of its own, on
        the page of its traffic source.
      </p>
      <CopyText label="lead token" text={token} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Posting instructions</summary>
        {isOpen && <Instructions token={token} />}
      </details>
    </Panel>
  );
}

/** For the developer of a landing page. */
export const Instructions = ({ token }: { token: string }) => (
  <>
    <p>Send a POST with the fields of a form or as JSON, from a browser or a server, to:</p>
    <CopyText label="address" text={LEADS_URL} />
    <ul>
      <li>
        <code>lead_token</code>: the token above
      </li>
      <li>
        <code>caller_id</code>: the person’s telephone number, in any spelling
      </li>
      <li>any other field, such as a name or a ZIP code, is kept with the lead as a token</li>
    </ul>
    <CopyText label="example" text={buildPostingExample(token)} />
    <p>
      <a href={docsLink()}>All fields and answers, for developers</a>
    </p>
  </>
);
