import { useEffect, useState } from 'preact/hooks';
import { copyText } from './clipboard';
import { Dialog } from './dialog';
import { useSyncExternalStore } from './store';
import type { Json } from './transport';

// Secrets that an answer of the API has once: a person must copy them before they are gone.

/** A secret, and its name for people. */
export type Secret = readonly [title: string, value: string];

/** Finds the secrets in the answer to a write of a noun. */
export type SecretReader = (answer: Json) => readonly (readonly [title: string, value: unknown])[];

interface Shown {
  secrets: readonly Secret[];
  help: string;
}

const NOTHING: Shown = { secrets: [], help: '' };
const ONCE = 'It is shown this once, and can be read nowhere afterwards.';
let shown = NOTHING;
const listeners = new Set<() => void>();

function change(next: Shown): void {
  shown = next;
  for (const changed of listeners) changed();
}

/** Shows secrets until they are dismissed. */
export const showSecrets = (secrets: readonly Secret[], help: string): void =>
  change({ secrets, help });

/** Shows the secrets of an answer; does nothing where it has none. */
export function revealSecrets(read: SecretReader | undefined, answer: Json): void {
  const secrets = (read?.(answer) ?? []).filter(
    (secret): secret is Secret => typeof secret[1] === 'string' && secret[1] !== '',
  );
  if (secrets.length > 0) showSecrets(secrets, ONCE);
}

const close = (): void => change(NOTHING);

/** The dialog of the shell that shows them, on whichever page they come. */
export function Secrets() {
  const { secrets, help } = useSyncExternalStore(listeners, () => shown);
  const [copied, setCopied] = useState('');
  // They end with the session: the next person in this tab must not see them.
  useEffect(() => close, []);
  if (secrets.length === 0) return null;
  const copy = async (title: string, value: string) => {
    if (await copyText(value)) setCopied(title);
  };
  return (
    <Dialog title="Copy this now" onClose={close}>
      <p>{help}</p>
      {secrets.map(([title, value]) => (
        <div key={title} class="field">
          <label for={`secret-${title}`}>{title}</label>
          <div class="with-unit">
            <input
              id={`secret-${title}`}
              class="code"
              readOnly
              value={value}
              onFocus={(event) => event.currentTarget.select()}
            />
            <button
              type="button"
              aria-label={`Copy: ${title}`}
              onClick={() => void copy(title, value)}
            >
              {copied === title ? 'Copied' : 'Copy'}
            </button>
          </div>
        </div>
      ))}
      <div class="actions">
        <button type="button" class="primary" onClick={close}>
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}
