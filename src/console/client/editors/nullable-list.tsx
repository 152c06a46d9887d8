import type { ComponentType } from 'preact';
import { ControlFor } from '../form/controls';
import type { EditorProps } from '../nouns/layout';

/** A list whose absence means something else than a list without entries. */
export function nullableList(absent: string, present: string): ComponentType<EditorProps> {
  return function NullableList(props: EditorProps) {
    const { id, label, field, value, onChange, disabled } = props;
    const isAbsent = value === null;
    return (
      <div id={id} role="group" aria-label={label}>
        <div class="choice">
          <label>
            <input
              type="radio"
              disabled={disabled}
              checked={isAbsent}
              onChange={() => onChange(null)}
            />
            {absent}
          </label>
          <label>
            <input
              type="radio"
              disabled={disabled}
              checked={!isAbsent}
              onChange={() => onChange([])}
            />
            {present}
          </label>
        </div>
        {!isAbsent && (
          <ControlFor
            {...props}
            id={`${id}-list`}
            field={{ ...field, type: 'array' }}
            describedBy={undefined}
          />
        )}
      </div>
    );
  };
}
