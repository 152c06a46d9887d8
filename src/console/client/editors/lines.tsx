import { useState } from 'preact/hooks';
import type { EditorProps } from '../nouns/layout';

/** Texts that may have spaces and commas in them, one on each line. */
export function Lines({ id, value, onChange, errors, disabled }: EditorProps) {
  const [text, setText] = useState(() => ((value ?? []) as string[]).join('\n'));
  return (
    <textarea
      id={id}
      rows={6}
      disabled={disabled}
      aria-invalid={errors.length > 0}
      value={text}
      onInput={(event) => {
        setText(event.currentTarget.value);
        onChange(toLines(event.currentTarget.value));
      }}
    />
  );
}

/** The lines of a text that have something on them. */
export const toLines = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
