import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog';
import { Facts } from './parts/basics';
import { goTo, linkTo } from './route';

/** Two keys after each other, as people of this trade know them from mail programs. */
const GOES: Readonly<Record<string, readonly [view: string, title: string]>> = {
  n: ['now', 'Now'],
  c: ['calls', 'Calls'],
  l: ['leads', 'Leads'],
  b: ['buyers', 'Buyers'],
  o: ['offers', 'Offers'],
  r: ['reports', 'Reports'],
};

const NEXT_KEY_MS = 1_500;

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input, select, textarea, dialog *'));

/** The keys of the whole console. Keys with Ctrl, Alt or Meta are those of the browser. */
export function useKeys() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    let wentAt = 0;
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event)) return;
      const isSecond = event.timeStamp - wentAt < NEXT_KEY_MS;
      wentAt = 0;
      if (event.key === '?') setOpen(true);
      else if (event.key === 'g') wentAt = event.timeStamp;
      else if (isSecond && GOES[event.key]) goTo(linkTo(GOES[event.key]![0]));
      else if (event.key === '/') focusSearch(event);
      else if (event.key === 'n') document.querySelector<HTMLElement>('a[data-key=n]')?.click();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return { is_open: isOpen, open: () => setOpen(true), close: () => setOpen(false) };
}

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLInputElement>('main input[type=search]');
  if (!search) return;
  event.preventDefault();
  search.focus();
}

export function KeyMap({ is_open, close }: { is_open: boolean; close: () => void }) {
  if (!is_open) return null;
  return (
    <Dialog title="Keys" onClose={close}>
      <Facts
        facts={[
          ['/', 'Search in this page'],
          ['n', 'New'],
          ['Ctrl + Enter', 'Save the form'],
          ...Object.entries(GOES).map(([key, [, title]]): [string, string] => [
            `g ${key}`,
            `Go to ${title}`,
          ]),
          ['?', 'These keys'],
        ]}
      />
    </Dialog>
  );
}
