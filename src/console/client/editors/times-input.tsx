import { useState } from 'preact/hooks';
import type { EditorProps } from '../nouns/layout';
import { findTimesFault, formatTimes, readTimes } from './hours';

/** One range of a day, typed and shown as those of a week are: `08:00–21:00`. */
export function TimesInput({ id, value, onChange, errors, disabled }: EditorProps) {
  const [typed, setTyped] = useState<string>();
  const stored = (value as string | null) ?? '';
  const shown = typed ?? (stored === '' ? '' : formatTimes([stored]));
  const fault = findTimesFault(shown);
  return (
    <>
      <input
        id={id}
        autocomplete="off"
        placeholder="08:00–21:00"
        disabled={disabled}
        aria-invalid={fault !== undefined || errors.length > 0}
        value={shown}
        onInput={({ currentTarget: { value: text } }) => {
          setTyped(text);
          onChange(readTimes(text).join(', '));
        }}
        onBlur={() => setTyped(undefined)}
      />
      {fault !== undefined && <small class="error">{explainTimes(fault)}</small>}
    </>
  );
}

export const explainTimes = (fault: string): string =>
  `${fault} is no time such as 09:00–17:00 or 9am–5pm.`;
