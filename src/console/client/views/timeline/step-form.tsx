import { useMemo } from 'preact/hooks';
import { findNoun } from '../../contract';
import { Dialog } from '../../dialog';
import { RecordForm } from '../../form/record-form';
import { useForm } from '../../form/use-form';
import { formFields, mayDo, mayWriteField } from '../../noun/access';
import { settleHidden, type NounLayout } from '../../nouns/layout';
import { scheduleActions } from '../../nouns/schedule-actions';
import { useSession } from '../../session';
import { send, type Answer, type Json, type Transport } from '../../transport';
import { DelayChoice } from './step-controls';
import { ACTION_TITLES, isFieldOfKind, type Step } from './steps';

interface StepFormProps {
  /** A stored step, or where a new one goes. */
  step: Step | Pick<Step, 'end_of_schedule'>;
  presets: Json;
  /** The position of a wait before a new step; null is the last one, which the API chooses. */
  delayPosition: number | null;
  tag: string;
  onClose: () => void;
  onSaved: () => void;
}

const isStored = (step: StepFormProps['step']): step is Step => 'id' in step;

/** The defaults of the API for a kind that is chosen later. */
const DEFAULTS: Json = { only_when_buyer_available: true };

/** The form of one step, in a dialog. */
export function StepForm({ step, presets, tag, ...props }: StepFormProps) {
  const { delayPosition, onClose, onSaved } = props;
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
      if (!isNew) return read(await send(transport, 'PUT', path, { body, tag: latest }));
      const delay = findDelay(complete, body);
      return read(
        await (delay
          ? addDelayed(transport, { ...delay, position: delayPosition }, body)
          : send(transport, 'POST', path, { body })),
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
        layout={isNew ? NEW_STEP : scheduleActions}
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

const WAIT_FIELDS = ['wait_amount', 'wait_unit', 'wait_until'] as const;

/** The form of a new step asks for the delay before it too: for people, the two are one step. */
const NEW_STEP: NounLayout = {
  ...scheduleActions,
  groups: [
    {
      title: 'Wait first',
      when: ({ action_type: kind }) => kind !== 'wait',
      editor: DelayChoice,
      fields: [...WAIT_FIELDS],
    },
    ...scheduleActions.groups,
  ],
};

/** The wait that is chosen in front of a step; undefined where there is none. */
function findDelay(changes: Json, body: Json): Json | undefined {
  const chosen = WAIT_FIELDS.filter((name) => (changes[name] ?? null) !== null);
  if (body.action_type === 'wait' || chosen.length === 0) return undefined;
  const { schedule_id: schedule, end_of_schedule: isAtEnd } = body;
  return {
    schedule_id: schedule,
    action_type: 'wait',
    end_of_schedule: isAtEnd,
    ...Object.fromEntries(chosen.map((name) => [name, changes[name]])),
  };
}

/**
 * Adds a wait, then its step: a lead that comes between the two waits, and is not contacted early.
 * Where the step is refused, the wait goes again.
 */
async function addDelayed(transport: Transport, delay: Json, body: Json): Promise<Answer> {
  const path = '/schedule_actions';
  const { data } = await send(transport, 'POST', path, { body: delay });
  try {
    return await send(transport, 'POST', path, { body });
  } catch (error) {
    const { id } = data.schedule_action as Json;
    await send(transport, 'DELETE', `${path}/${String(id)}`);
    throw error;
  }
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
