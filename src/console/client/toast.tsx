import { useSyncExternalStore } from './store';

interface Toast {
  id: number;
  text: string;
  tone: 'good' | 'bad';
  undo?: (() => void) | undefined;
}

const SHOWN_MS = 8_000;
/** Longer, since a person has to read it and decide. */
const UNDO_MS = 15_000;
/** More of them would cover what the person works on. */
const MOST_SHOWN = 3;

let toasts: readonly Toast[] = [];
const listeners = new Set<() => void>();
let lastId = 0;

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const changed of listeners) changed();
}

const dismiss = (id: number): void => change(toasts.filter((toast) => toast.id !== id));

/** Says shortly that something was done; `undo` offers to take it back. */
export function showToast(
  text: string,
  { tone = 'good', undo }: { tone?: Toast['tone']; undo?: () => void } = {},
): void {
  const id = ++lastId;
  change([...toasts, { id, text, tone, undo }].slice(-MOST_SHOWN));
  setTimeout(() => dismiss(id), undo ? UNDO_MS : SHOWN_MS);
}

export function Toasts() {
  const shown = useSyncExternalStore(listeners, () => toasts);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, tone, undo }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          {undo && (
            <button
              type="button"
              onClick={() => {
                dismiss(id);
                undo();
              }}
            >
              Undo
            </button>
          )}
          <button
            type="button"
            class="plain-button"
            aria-label="Dismiss"
            onClick={() => dismiss(id)}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
