import { useMemo } from 'preact/hooks';
import { findNoun } from '../../contract';
import { Dialog } from '../../dialog';
import { RecordForm } from '../../form/record-form';
import { useForm } from '../../form/use-form';
import { formFields, mayDo, mayWriteField } from '../../noun/access';
import { settleHidden } from '../../nouns/layout';
import { scheduleActions } from '../../nouns/schedule-actions';
import { useSession } from '../../session';
import { send, type Json } from '../../transport';
import { ACTION_TITLES, isFieldOfKind, type Step } from './steps';

interface StepFormProps {
  /** A stored step, or where a new one goes. */
  step: Step | Pick<Step, 'end_of_schedule'>;
  presets: Json;
  tag: string;
  onClose: () => void;
  onSaved: () => void;
}

const isStored = (step: StepFormProps['step']): step is Step => 'id' in step;

/** The defaults of the API for a kind that is chosen later. */
const DEFAULTS: Json = { only_when_buyer_available: true };

/** The form of one step, in a dialog. */
export function StepForm({ step, presets, tag, onClose, onSaved }: StepFormProps) {
  const session = useSession();
  const { transport } = session;
  const noun = findNoun(session.contract, 'schedule_actions');
  const fields = useMemo(() => formFields(noun.write), [noun]);
  const isNew = !isStored(step);
  const read = ({ data, tag: latest }: { data: Json; tag: string }) => ({
    record: data.schedule_action as Json,
    tag: latest,
  });
  const path = isNew ? '/schedule_actions' : `/schedule_actions/${step.id}`;
  const form = useForm({
    fields,
    reads: undefined,
    record: isNew ? DEFAULTS : (step as unknown as Json),
    tag,
    presets,
    save: async (changes, latest) => {
      const { inputs, record } = form;
      const complete = completeKind(changes, inputs, record);
      const body = settleHidden(scheduleActions, { body: complete, inputs, record });
      return read(
        await send(transport, isNew ? 'POST' : 'PUT', path, {
          body,
          ...(!isNew && { tag: latest }),
        }),
      );
    },
    loadLatest: async () => read(await send(transport, 'GET', path)),
  });
  const mayWrite = mayDo(session, noun, isNew ? 'create' : 'update');
  return (
    <Dialog
      title={isNew ? 'New step' : `Step: ${ACTION_TITLES[step.action_type]}`}
      isChanged={form.written.length > 0}
      onClose={onClose}
    >
      <RecordForm
        layout={scheduleActions}
        fields={fields}
        mayWrite={(name) => mayWrite && mayWriteField(session, noun, fields[name]!)}
        form={form}
        isNew={isNew}
        onSaved={onSaved}
        onCancel={onClose}
      />
    </Dialog>
  );
}

/** A step that becomes one of another kind is sent with its switches as the form shows them. */
function completeKind(changes: Json, inputs: Json, record: Json): Json {
  const isChanged = record.id !== undefined && 'action_type' in changes;
  if (!isChanged) return changes;
  const switches = Object.entries(inputs).filter(
    ([name, value]) => typeof value === 'boolean' && isFieldOfKind(name, inputs),
  );
  return { ...Object.fromEntries(switches), ...changes };
}
