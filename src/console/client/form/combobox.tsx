import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useSession } from '../session';
import { loadTitles, searchReferences, type Choice } from './references';

// A record is chosen by its name (the combobox pattern of ARIA 1.2); its id is the value.

const TYPING_MS = 200;

/** The records that match a text; none while nothing is typed. */
function useChoices(noun: string, typed: string | undefined, changed: () => void) {
  const session = useSession();
  const [choices, setChoices] = useState<readonly Choice[]>([]);
  useEffect(() => {
    if (typed === undefined) return;
    let isOutdated = false;
    const timer = setTimeout(async () => {
      const matches = await searchReferences(session, noun, typed).catch(() => []);
      if (isOutdated) return;
      setChoices(matches);
      changed();
    }, TYPING_MS);
    return () => {
      isOutdated = true;
      clearTimeout(timer);
    };
  }, [typed, noun]);
  return choices;
}

interface SearchProps {
  id?: string;
  label?: string;
  noun: string;
  /** The text of the input while nothing is typed. */
  shown: string;
  onChoose: (choice: Choice) => void;
  onClear?: () => void;
  disabled?: boolean;
  invalid?: boolean;
  describedBy?: string | undefined;
  placeholder?: string;
}

/** An input that searches the records of a noun while one types. */
export function ReferenceSearch(props: SearchProps) {
  const { noun, shown, onChoose, onClear } = props;
  const listId = useId();
  const [typed, setTyped] = useState<string>();
  const [active, setActive] = useState(0);
  const choices = useChoices(noun, typed, () => setActive(0));
  const isOpen = typed !== undefined;
  const close = () => setTyped(undefined);
  const choose = (choice: Choice | undefined) => {
    if (choice) onChoose(choice);
    close();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (!isOpen) return setTyped('');
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setActive((active + step + choices.length) % Math.max(choices.length, 1));
    } else if (event.key === 'Enter' && isOpen) {
      event.preventDefault();
      choose(choices[active]);
    } else if (event.key === 'Escape' && isOpen) {
      event.stopPropagation();
      close();
    }
  };
  const typing = (text: string) => {
    setTyped(text);
    if (text === '') onClear?.();
  };
  return (
    <div class="combobox">
      <input
        id={props.id}
        role="combobox"
        autocomplete="off"
        aria-label={props.label}
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && choices[active] ? `${listId}-${active}` : undefined}
        aria-invalid={props.invalid}
        aria-describedby={props.describedBy}
        placeholder={props.placeholder ?? 'Search by name'}
        disabled={props.disabled}
        value={typed ?? shown}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => setTyped((before) => before ?? '')}
        onInput={(event) => typing(event.currentTarget.value)}
        onKeyDown={pressed}
        onBlur={close}
      />
      <Options id={listId} is_open={isOpen} choices={choices} active={active} onChoose={choose} />
    </div>
  );
}

interface OptionsProps {
  id: string;
  is_open: boolean;
  choices: readonly Choice[];
  active: number;
  onChoose: (choice: Choice) => void;
}

function Options({ id, is_open, choices, active, onChoose }: OptionsProps) {
  const box = useRef<HTMLUListElement>(null);
  useEffect(() => {
    box.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <ul id={id} ref={box} class="options" role="listbox" hidden={!is_open || choices.length === 0}>
      {choices.map((choice, index) => (
        <li
          key={choice.id}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          // Before the input loses the focus, which closes the list.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(choice);
          }}
        >
          {choice.title} <small>#{choice.id}</small>
        </li>
      ))}
    </ul>
  );
}

interface ReferenceInputProps {
  id: string;
  noun: string;
  value: string;
  onChange: (id: string) => void;
  disabled?: boolean;
  invalid?: boolean;
  describedBy?: string | undefined;
  /** Stands where none is chosen. */
  none?: string;
}

/** One record, by its id. */
export function ReferenceInput({
  noun,
  value,
  onChange,
  none = 'None',
  ...input
}: ReferenceInputProps) {
  const titles = useTitles(noun, value === '' ? [] : [value]);
  return (
    <ReferenceSearch
      {...input}
      noun={noun}
      shown={value === '' ? '' : (titles.get(value) ?? `No. ${value}`)}
      placeholder={none}
      onChoose={({ id }) => onChange(id)}
      onClear={() => onChange('')}
    />
  );
}

interface ReferencesInputProps extends Omit<ReferenceInputProps, 'value' | 'onChange'> {
  value: readonly string[];
  onChange: (ids: string[]) => void;
}

/** Several records, in the order in which they were chosen. */
export function ReferencesInput({ noun, value, onChange, ...input }: ReferencesInputProps) {
  const titles = useTitles(noun, value);
  return (
    <>
      <ul class="chips">
        {value.map((id) => (
          <li key={id} class="chip">
            {titles.get(id) ?? `No. ${id}`}
            <button
              type="button"
              disabled={input.disabled}
              aria-label={`Remove ${titles.get(id) ?? id}`}
              onClick={() => onChange(value.filter((other) => other !== id))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <ReferenceSearch
        {...input}
        noun={noun}
        shown=""
        placeholder="Add by name"
        onChoose={({ id }) => {
          if (!value.includes(id)) onChange([...value, id]);
        }}
      />
    </>
  );
}

/** Names of records by id; loaded once for each id. */
export function useTitles(noun: string, ids: readonly string[]): ReadonlyMap<string, string> {
  const session = useSession();
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map());
  const missing = ids.filter((id) => !titles.has(id));
  const key = missing.join(',');
  useEffect(() => {
    if (key === '') return;
    let isOutdated = false;
    void loadTitles(session, noun, key.split(','))
      .catch(() => [])
      .then((choices) => {
        if (!isOutdated) setTitles((before) => new Map([...before, ...choices.map(toEntry)]));
      });
    return () => void (isOutdated = true);
  }, [noun, key]);
  return titles;
}

const toEntry = ({ id, title }: Choice): [string, string] => [id, title];
