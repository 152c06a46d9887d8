import type { ComponentChild } from 'preact';
import { RecordName } from '../../noun/record-name';
import { ACTION_TITLES, describeWait, type Step } from './steps';

interface StepItemProps {
  step: Step;
  number: number;
  isBusy: boolean;
  mayUpdate: boolean;
  mayDelete: boolean;
  isFirst: boolean;
  isLast: boolean;
  onEdit: () => void;
  onDelete: () => void;
  /** Adds a step before this one. */
  onInsert: (() => void) | undefined;
  onMove: (by: number) => void;
  onDrag: () => void;
  /** Something was dropped on it: it goes before this step. */
  onDrop: () => void;
}

/** One step: its words, and what can be done with it. */
export function StepItem(props: StepItemProps) {
  const { step, number, isBusy, mayUpdate, onMove } = props;
  const title = titleStep(step);
  const label = `Step ${number}: ${title}`;
  return (
    <li
      class={step.action_type === 'wait' ? 'step wait' : 'step'}
      data-step={step.id}
      tabIndex={0}
      aria-label={label}
      draggable={mayUpdate}
      onDragStart={props.onDrag}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        props.onDrop();
      }}
      onKeyDown={(event) => {
        const by = ARROWS[event.key];
        if (!event.altKey || by === undefined || !mayUpdate || isBusy) return;
        event.preventDefault();
        onMove(by);
      }}
    >
      <div class="step-body">
        <b>{title}</b>
        {step.name && step.name !== title && <span class="quiet"> {step.name}</span>}
        <div class="step-detail">{describeStep(step)}</div>
        {step.token_filter_list.length > 0 && (
          <small class="quiet">Only if {step.token_filter_list.join(' and ')}</small>
        )}
      </div>
      <StepButtons {...props} label={label} />
    </li>
  );
}

const ARROWS: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

function StepButtons({ label, ...props }: StepItemProps & { label: string }) {
  const { isBusy, mayUpdate, mayDelete, isFirst, isLast, onEdit, onDelete, onMove } = props;
  const { onInsert } = props;
  return (
    <div class="step-actions">
      {onInsert && (
        <button type="button" aria-label={`Insert before: ${label}`} onClick={onInsert}>
          Insert
        </button>
      )}
      {mayUpdate && (
        <>
          <button
            type="button"
            aria-label={`Move up: ${label}`}
            disabled={isBusy || isFirst}
            onClick={() => onMove(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            aria-label={`Move down: ${label}`}
            disabled={isBusy || isLast}
            onClick={() => onMove(1)}
          >
            ↓
          </button>
          <button type="button" aria-label={`Edit: ${label}`} disabled={isBusy} onClick={onEdit}>
            Edit
          </button>
        </>
      )}
      {mayDelete && (
        <button
          type="button"
          class="danger"
          aria-label={`Delete: ${label}`}
          disabled={isBusy}
          onClick={onDelete}
        >
          Delete
        </button>
      )}
    </div>
  );
}

const titleStep = (step: Step): string =>
  step.action_type === 'wait' ? describeWait(step) : ACTION_TITLES[step.action_type];

const MAX_SHOWN = 160;
const shorten = (text: string): string =>
  text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;

function describeStep(step: Step): ComponentChild {
  switch (step.action_type) {
    case 'dial':
      return step.connect_to === null
        ? 'and connect it to a buyer of the offer'
        : `and connect it to ${step.connect_to}`;
    case 'sms':
      return shorten(step.body ?? '');
    case 'email':
      return step.subject;
    case 'webhook':
      return `${(step.method ?? 'post').toUpperCase()} ${step.url}`;
    case 'move_to_schedule':
      return <RecordName noun="schedules" id={step.to_schedule_id} />;
    default:
      return null;
  }
}
