import { useState } from 'preact/hooks';
import type { EditorProps } from '../nouns/layout';
import { findTimesFault, formatTimes, readTimes } from './hours';

interface TypedTimesProps {
  id?: string;
  'aria-label'?: string;
  placeholder: string;
  disabled: boolean;
  isInvalid?: boolean;
  times: readonly string[];
  onChange: (times: string[]) => void;
}

/** Times of a day, typed and shown as people write them: `08:00–12:00, 13:00–17:30`. */
export function TypedTimes({ times, onChange, isInvalid = false, ...input }: TypedTimesProps) {
  const [typed, setTyped] = useState<string>();
  const shown = typed ?? formatTimes(times);
  const fault = findTimesFault(shown);
  return (
    <>
      <input
        {...input}
        autocomplete="off"
        aria-invalid={fault !== undefined || isInvalid}
        value={shown}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value);
          onChange(readTimes(value));
        }}
        onBlur={() => setTyped(undefined)}
      />
      {fault !== undefined && (
        <small class="error">{fault} is no time such as 09:00–17:00 or 9am–5pm.</small>
      )}
    </>
  );
}

/** One range of a day. */
export function TimesInput({ id, value, onChange, errors, disabled }: EditorProps) {
  const stored = (value as string | null) ?? '';
  return (
    <TypedTimes
      id={id}
      placeholder="08:00–21:00"
      disabled={disabled}
      isInvalid={errors.length > 0}
      times={stored === '' ? [] : [stored]}
      onChange={(times) => onChange(times.join(', '))}
    />
  );
}
