import type { ComponentType } from 'preact';
import { words } from '../format';
import type { EditorProps } from '../nouns/layout';

/** A choice whose names of the API are said in sentences. */
export function wordedChoice(titles: Readonly<Record<string, string>>): ComponentType<EditorProps> {
  return function WordedChoice({ id, field, value, onChange, disabled, errors }: EditorProps) {
    const isEmpty = value === '' || value === null;
    return (
      <select
        id={id}
        disabled={disabled}
        aria-invalid={errors.length > 0}
        value={isEmpty ? '' : (value as string)}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {(field.nullable || isEmpty) && <option value="">–</option>}
        {(field.enum ?? []).map((name) => (
          <option key={name} value={name}>
            {titles[name] ?? words(name)}
          </option>
        ))}
      </select>
    );
  };
}
