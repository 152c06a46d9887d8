import { useEffect, useRef, useState } from 'preact/hooks';
import { findNoun } from '../../contract';
import { useAction, useLoaded, type Loaded } from '../../loading';
import { mayDo } from '../../noun/access';
import type { PanelProps } from '../../nouns/layout';
import { Panel, Problem, Show } from '../../parts/basics';
import { useSession, type Session } from '../../session';
import { showToast } from '../../toast';
import { send, type Json } from '../../transport';
import { StepForm } from './step-form';
import { StepItem } from './step-item';
import { listSteps, positionAt, positionBefore, positionToMove, type Step } from './steps';

const MAX_STEPS = 1_000;

async function loadSteps({ transport }: Session, scheduleId: string): Promise<Step[]> {
  const { data } = await send(transport, 'GET', '/schedule_actions', {
    query: { schedule_id: scheduleId, order: 'position', order_dir: 'asc', per_page: MAX_STEPS },
  });
  return data.schedule_actions as Step[];
}

/** A step that is being written: a new one at an index of its list, or a stored one. */
type Edited = { isAtEnd: boolean; index: number } | { step: Step; tag: string };

const LISTS = [
  {
    isAtEnd: false,
    title: 'Steps, from top to bottom',
    empty:
      'There are no steps yet, so nothing happens to a lead. Add the first one: a call, a text or an e-mail.',
  },
  {
    isAtEnd: true,
    title: 'When a lead leaves the schedule',
    empty: 'Nothing happens when a lead leaves.',
  },
] as const;

/** The steps of a schedule in their order, and those when a lead leaves it. */
export function Timeline({ record }: PanelProps) {
  const session = useSession();
  const noun = findNoun(session.contract, 'schedule_actions');
  const scheduleId = String(record.id);
  const loaded = useLoaded(() => loadSteps(session, scheduleId), [scheduleId]);
  const [edited, setEdited] = useState<Edited>();
  const [dragged, setDragged] = useState<Step>();
  const changes = useStepChanges(session, loaded, setEdited);
  const rights = {
    create: mayDo(session, noun, 'create'),
    update: mayDo(session, noun, 'update'),
    delete: mayDo(session, noun, 'delete'),
  };
  return (
    <Panel title="What happens to a lead" wide>
      {rights.update && (
        <p class="quiet">
          Drag a step to move it, or press Alt with an arrow key while it has the focus.
        </p>
      )}
      <Problem error={changes.error} />
      <Show of={loaded}>
        {(steps) =>
          LISTS.map((list) => (
            <StepList
              key={list.title}
              {...list}
              steps={listSteps(steps, list.isAtEnd)}
              rights={rights}
              changes={changes}
              onAdd={(index) => setEdited({ isAtEnd: list.isAtEnd, index })}
              dragged={dragged}
              onDrag={setDragged}
            />
          ))
        }
      </Show>
      {edited && (
        <StepForm
          {...toFormProps(edited, loaded.data ?? [], scheduleId)}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            showToast('step' in edited ? 'The step was saved.' : 'The step was added.');
            setEdited(undefined);
            void loaded.reload();
          }}
        />
      )}
    </Panel>
  );
}

/** Moves, deletes and opens steps; afterwards what is stored is shown, also after a failure. */
function useStepChanges(
  { transport }: Session,
  { data, reload }: Loaded<Step[]>,
  open: (edited: Edited) => void,
) {
  const focus = useFocusAfterMove(data);
  const { run, error, is_busy } = useAction(async (work: () => Promise<unknown>) => {
    try {
      await work();
    } finally {
      await reload();
    }
  });
  const pathTo = ({ id }: Step) => `/schedule_actions/${id}`;
  return {
    error,
    is_busy,
    move: (step: Step, body: Json) =>
      void run(async () => {
        focus(step.id);
        await send(transport, 'PUT', pathTo(step), { body });
      }),
    remove: (step: Step) => {
      if (!confirm('Delete this step? Leads that have not reached it skip it.')) return;
      void run(async () => {
        await send(transport, 'DELETE', pathTo(step));
        showToast('The step was deleted.');
      });
    },
    edit: (step: Step) =>
      void run(async () => {
        const answer = await send(transport, 'GET', pathTo(step));
        open({ step: answer.data.schedule_action as Step, tag: answer.tag });
      }),
  };
}

interface StepListProps {
  title: string;
  empty: string;
  isAtEnd: boolean;
  steps: readonly Step[];
  rights: { create: boolean; update: boolean; delete: boolean };
  changes: ReturnType<typeof useStepChanges>;
  onAdd: (index: number) => void;
  dragged: Step | undefined;
  onDrag: (step: Step | undefined) => void;
}

function StepList(props: StepListProps) {
  const { title, empty, isAtEnd, steps, rights, changes, onAdd, dragged, onDrag } = props;
  const drop = (index: number) => {
    if (!dragged) return;
    onDrag(undefined);
    const body = planDrop(steps, dragged, isAtEnd, index);
    if (body) changes.move(dragged, body);
  };
  const moveBy = (index: number, by: number) => {
    const position = positionToMove(steps, index, index + by);
    if (position !== undefined) changes.move(steps[index]!, { position });
  };
  return (
    <section class="steps">
      <h3>{title}</h3>
      {steps.length === 0 && <p class="quiet">{empty}</p>}
      <ol aria-label={title}>
        {steps.map((step, index) => (
          <StepItem
            key={step.id}
            step={step}
            number={index + 1}
            isBusy={changes.is_busy}
            mayUpdate={rights.update}
            mayDelete={rights.delete}
            isFirst={index === 0}
            isLast={index === steps.length - 1}
            onEdit={() => changes.edit(step)}
            onDelete={() => changes.remove(step)}
            onInsert={rights.create ? () => onAdd(index) : undefined}
            onMove={(by) => moveBy(index, by)}
            onDrag={() => onDrag(step)}
            onDrop={() => drop(index)}
          />
        ))}
      </ol>
      <div
        class="drop-end"
        onDragOver={(event) => event.preventDefault()}
        onDrop={() => drop(steps.length)}
      >
        {rights.create && (
          <button
            type="button"
            class={!isAtEnd && steps.length === 0 ? 'primary' : undefined}
            onClick={() => onAdd(steps.length)}
          >
            {isAtEnd ? 'Add a step for the end' : 'Add a step'}
          </button>
        )}
      </div>
    </section>
  );
}

/** The change that puts a dragged step before the one at an index; undefined where it is there. */
function planDrop(
  steps: readonly Step[],
  dragged: Step,
  isAtEnd: boolean,
  index: number,
): Json | undefined {
  if (dragged.end_of_schedule !== isAtEnd)
    return { end_of_schedule: isAtEnd, position: positionAt(steps, index) };
  const from = steps.findIndex(({ id }) => id === dragged.id);
  const position = positionToMove(steps, from, index > from ? index - 1 : index);
  return position === undefined ? undefined : { position };
}

function toFormProps(edited: Edited, steps: readonly Step[], scheduleId: string) {
  if ('step' in edited)
    return { step: edited.step, presets: {}, delayPosition: null, tag: edited.tag };
  const { isAtEnd, index } = edited;
  const listed = listSteps(steps, isAtEnd);
  const position = positionAt(listed, index);
  return {
    step: { end_of_schedule: isAtEnd },
    presets: {
      schedule_id: scheduleId,
      action_type: 'sms',
      end_of_schedule: isAtEnd,
      ...(position !== null && { position: String(position) }),
    },
    delayPosition: position === null ? null : positionBefore(listed[index - 1], position),
    tag: '',
  };
}

/** A moved step keeps the focus, so that it can be moved on. */
function useFocusAfterMove(steps: readonly Step[] | undefined): (id: number) => void {
  const moved = useRef<number>();
  useEffect(() => {
    if (moved.current === undefined) return;
    document.querySelector<HTMLElement>(`[data-step="${moved.current}"]`)?.focus();
    moved.current = undefined;
  }, [steps]);
  return (id) => void (moved.current = id);
}
