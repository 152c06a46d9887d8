import { linkTo, useRoute } from '../route';

interface ChoiceLinksProps {
  label: string;
  /** The choices, by their names in the location. */
  choices: Readonly<Record<string, string>>;
  chosen: string;
}

/** Ways to do something, of which one is shown; the location names it. */
export function ChoiceLinks({ label, choices, chosen }: ChoiceLinksProps) {
  const { view, id, query } = useRoute();
  return (
    <nav class="choice-links" aria-label={label}>
      {Object.entries(choices).map(([by, title]) => (
        <a
          key={by}
          class={by === chosen ? 'button primary' : 'button'}
          aria-current={by === chosen ? 'page' : undefined}
          href={linkTo(view, id ?? null, { ...Object.fromEntries(query), by })}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

/** The choice that the location names; the first where it names none. */
export function useChoice(choices: Readonly<Record<string, string>>): string {
  const by = useRoute().query.get('by') ?? '';
  return by in choices ? by : Object.keys(choices)[0]!;
}
