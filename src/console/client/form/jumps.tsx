import type { GroupLayout } from '../nouns/layout';

/** Fewer parts are seen at once. */
const LEAST_GROUPS = 5;

interface JumpsProps {
  box: { current: HTMLFormElement | null };
  groups: readonly GroupLayout[];
}

/** Leads to the parts of a long form; a folded part is opened. */
export function Jumps({ box, groups }: JumpsProps) {
  if (groups.length < LEAST_GROUPS) return null;
  return (
    <nav class="jumps" aria-label="Parts of the form">
      <span class="quiet" aria-hidden="true">
        Jump to
      </span>
      {groups.map(({ title }) => (
        <button key={title} type="button" onClick={() => jump(box.current, title)}>
          {title}
        </button>
      ))}
    </nav>
  );
}

function jump(form: HTMLFormElement | null, title: string): void {
  const group = [...(form?.querySelectorAll<HTMLElement>('[data-group]') ?? [])].find(
    ({ dataset }) => dataset.group === title,
  );
  if (!group) return;
  if (group instanceof HTMLDetailsElement) group.open = true;
  group.scrollIntoView();
  // The keyboard goes on within the part, without an input being chosen for the person.
  const heading = group.querySelector<HTMLElement>('summary') ?? group;
  heading.focus({ preventScroll: true });
}
