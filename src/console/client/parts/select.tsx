import { useId } from 'preact/hooks';

interface SelectProps {
  label: string;
  /** The choices, with the words for them. */
  choices: Readonly<Record<string, string>>;
  value: string;
  onChange: (value: string) => void;
  disabled?: boolean;
}

/** A choice among a few values. */
export function Select({ label, choices, value, onChange, disabled }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {Object.entries(choices).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </div>
  );
}
