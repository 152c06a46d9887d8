import { useId } from 'preact/hooks';
import { ReferenceInput } from '../form/combobox';

interface LabeledReferenceProps {
  label: string;
  noun: string;
  value: string;
  onChange: (id: string) => void;
  none?: string;
}

/** A record that is chosen by its name, with its label. */
export function LabeledReference({ label, ...input }: LabeledReferenceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <ReferenceInput id={id} {...input} />
    </div>
  );
}
