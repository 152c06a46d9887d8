import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { askToLeave } from './route';

interface DialogProps {
  title: string;
  /** Asks before it is closed by Escape or ×. */
  isChanged?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog of the browser: it keeps the focus inside, and Escape closes it. */
export function Dialog({ title, isChanged = false, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = box;
    const opener = document.activeElement;
    current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  const close = (): boolean => {
    const mayClose = !isChanged || askToLeave();
    if (mayClose) onClose();
    return mayClose;
  };
  return (
    <dialog
      ref={box}
      aria-labelledby={id}
      onCancel={(event) => {
        // At the second Escape in a row, a browser closes the dialog whatever the page says.
        if (!event.cancelable) return;
        event.preventDefault();
        close();
      }}
      onClose={() => {
        if (!close()) box.current?.showModal();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="plain-button" aria-label="Close" onClick={close}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  );
}
