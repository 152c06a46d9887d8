import type { Fields, NounContract } from '../../noun-contract';
import { RecordForm } from '../form/record-form';
import type { Form } from '../form/use-form';
import type { NounLayout } from '../nouns/layout';
import { useSession } from '../session';
import { showToast } from '../toast';
import { mayDo, mayWriteField } from './access';

interface StoredFormProps {
  layout: NounLayout;
  noun: NounContract;
  fields: Fields;
  form: Form;
  reload: () => Promise<void>;
}

/** The form of a record that exists, disabled where the caller may not write. */
export function StoredForm({ layout, noun, fields, form, reload }: StoredFormProps) {
  const session = useSession();
  const mayUpdate = mayDo(session, noun, 'update');
  return (
    <RecordForm
      layout={layout}
      fields={fields}
      mayWrite={(name) => mayUpdate && mayWriteField(session, noun, fields[name]!)}
      form={form}
      isNew={false}
      onSaved={() => {
        showToast('Saved.');
        void reload();
      }}
    />
  );
}
