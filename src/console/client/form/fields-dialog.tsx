import type { Fields } from '../../noun-contract';
import { Dialog } from '../dialog';
import type { FieldLayout } from '../nouns/layout';
import { Problem } from '../parts/basics';
import type { Json } from '../transport';
import { FormField } from './field';
import type { Values } from './model';
import { useForm } from './use-form';

interface FieldsDialogProps {
  title: string;
  /** Fields of the contract, by name. */
  fields: Fields;
  layouts: readonly FieldLayout[];
  /** Sent without being typed. */
  presets?: Values;
  help?: string;
  submit: string;
  run: (body: Json) => Promise<unknown>;
  onClose: () => void;
}

const NO_RECORD: Json = {};

/** Asks for a few fields, and sends them; faults stand at their fields. */
export function FieldsDialog({ title, fields, layouts, presets, ...props }: FieldsDialogProps) {
  const { help, submit, run, onClose } = props;
  const form = useForm({
    name: title,
    fields: Object.fromEntries(layouts.map(({ field }) => [field, fields[field]!])),
    reads: undefined,
    record: NO_RECORD,
    tag: '',
    ...(presets && { presets }),
    save: async (body) => {
      await run(body);
      return { record: NO_RECORD, tag: '' };
    },
    loadLatest: async () => ({ record: NO_RECORD, tag: '' }),
  });
  const send = async (event: Event) => {
    event.preventDefault();
    if (await form.submit()) onClose();
  };
  return (
    <Dialog title={title} isChanged={form.written.length > 0} onClose={onClose}>
      <form noValidate onSubmit={(event) => void send(event)}>
        {help !== undefined && <p class="quiet">{help}</p>}
        {layouts
          .filter(({ when }) => !when || when(form.inputs))
          .map((layout) => (
            <FormField
              key={layout.field}
              layout={layout}
              label={undefined}
              name={layout.field}
              field={fields[layout.field]!}
              value={form.inputs[layout.field]}
              errors={form.errors[layout.field] ?? []}
              disabled={form.is_busy}
              isChanged={false}
              inputs={form.inputs}
              record={NO_RECORD}
              onChange={(value) => form.change(layout.field, value)}
            />
          ))}
        <Problem error={form.error} />
        <div class="actions">
          <button class="primary" disabled={form.is_busy}>
            {submit}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
