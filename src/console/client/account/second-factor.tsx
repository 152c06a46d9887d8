import { useState } from 'preact/hooks';
import { copyText } from '../clipboard';
import { Badge, Panel } from '../parts/basics';
import { AskForm, CODE } from '../sign-in/ask-form';
import { showToast } from '../toast';
import { saveBlob } from '../transport';
import { listProofs, useOwnGate, type AccountProps } from './gate';

interface Proposal {
  secret: string;
  qr: { size: number; path: string };
}

interface RecoveryCodes {
  recovery_codes: readonly string[];
}

/** Codes of an app, asked for at each sign-in: set up, and turned off again. */
export function SecondFactor({ own, reload }: AccountProps) {
  const [codes, setCodes] = useState<readonly string[]>();
  const show = async ({ recovery_codes: next }: RecoveryCodes) => {
    setCodes(next);
    await reload();
  };
  return (
    <Panel title="Second factor">
      <p>
        <Badge tone={own.has_second_factor ? 'good' : 'warn'}>
          {own.has_second_factor ? 'on' : 'off'}
        </Badge>{' '}
        {own.has_second_factor
          ? `${own.recovery_codes_left} recovery codes are left.`
          : 'With it, a password alone does not let anybody in.'}
      </p>
      {codes && <Codes codes={codes} onClose={() => setCodes(undefined)} />}
      {!codes && own.has_second_factor && <TurnedOn show={show} reload={reload} />}
      {!codes && !own.has_second_factor && <SetUp own={own} show={show} />}
    </Panel>
  );
}

interface ShowProps {
  show: (answer: RecoveryCodes) => Promise<void>;
}

function SetUp({ own, show }: ShowProps & Pick<AccountProps, 'own'>) {
  const send = useOwnGate();
  const [proposal, setProposal] = useState<Proposal>();
  if (!proposal)
    return (
      <AskForm
        fields={listProofs(own, 'password')}
        submit="Set it up"
        send={async (body) => setProposal(await send('POST', '/second-factor', body))}
      />
    );
  const { secret, qr } = proposal;
  return (
    <AskForm
      fields={[{ ...CODE, hint: 'The six digits that the app shows now.' }]}
      submit="Turn it on"
      send={async (body) => show(await send('POST', '/second-factor/confirm', body))}
    >
      <p>Scan this with an authenticator app on your phone, or type the key into it.</p>
      <svg class="qr" viewBox={`0 0 ${qr.size} ${qr.size}`} role="img" aria-label="QR code">
        <path d={qr.path} />
      </svg>
      <p>
        Key: <span class="code">{secret.replace(/.{4}(?=.)/g, '$& ')}</span>
      </p>
    </AskForm>
  );
}

function TurnedOn({ show, reload }: ShowProps & Pick<AccountProps, 'reload'>) {
  const send = useOwnGate();
  return (
    <>
      <details>
        <summary>Make new recovery codes</summary>
        <AskForm
          fields={[CODE]}
          submit="Make new codes"
          send={async (body) => show(await send('POST', '/second-factor/recovery-codes', body))}
        >
          <p class="quiet">The codes that you have no longer work then.</p>
        </AskForm>
      </details>
      <details>
        <summary>Turn it off</summary>
        <AskForm
          fields={[CODE]}
          submit="Turn the second factor off"
          tone="danger"
          send={async (body) => {
            await send('DELETE', '/second-factor', body);
            showToast('The second factor is off.');
            await reload();
          }}
        />
      </details>
    </>
  );
}

/** They are shown this once, since the service keeps only what recognizes them. */
function Codes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const text = codes.join('\n');
  return (
    <>
      <p class="notice warn" role="status">
        Keep these recovery codes: each signs you in once without your phone. They are shown only
        now.
      </p>
      <ul class="plain code recovery-codes" aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" onClick={() => void copyText(text)}>
          Copy
        </button>
        <button
          type="button"
          onClick={() => saveBlob(new Blob([text]), 'trunkline-recovery-codes.txt')}
        >
          Download
        </button>
        <button type="button" class="primary" onClick={onClose}>
          I have kept them
        </button>
      </div>
    </>
  );
}
