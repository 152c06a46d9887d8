import { useState } from 'preact/hooks';
import type { EditorProps } from '../nouns/layout';

/** From here on the codes are those of Canadian provinces. */
const FIRST_PROVINCE = 'AB';

/** States and provinces to choose; none chosen is all of them. */
export function States({ id, label, field, value, onChange, disabled }: EditorProps) {
  const codes = field.items?.enum ?? [];
  const chosen = new Set((value ?? []) as string[]);
  const [isOpen, setOpen] = useState(false);
  const split = codes.indexOf(FIRST_PROVINCE);
  const toggle = (code: string) => {
    const next = chosen.has(code)
      ? [...chosen].filter((other) => other !== code)
      : [...chosen, code];
    onChange(codes.filter((other) => next.includes(other)));
  };
  return (
    <div role="group" aria-label={label} id={id}>
      <div class="actions">
        <span>{chosen.size === 0 ? 'Everywhere' : [...chosen].join(', ')}</span>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Close' : 'Choose'}
        </button>
        {chosen.size > 0 && !disabled && (
          <button type="button" onClick={() => onChange([])}>
            Everywhere
          </button>
        )}
      </div>
      {isOpen &&
        [codes.slice(0, split), codes.slice(split)].map((group, index) => (
          <div key={index} class="states">
            {group.map((code) => (
              <label key={code}>
                <input
                  type="checkbox"
                  disabled={disabled}
                  checked={chosen.has(code)}
                  onChange={() => toggle(code)}
                />
                {code}
              </label>
            ))}
          </div>
        ))}
    </div>
  );
}
