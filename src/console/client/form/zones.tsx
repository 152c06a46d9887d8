import type { JSX } from 'preact';

// Time zones that are offered for choice: by the names that people of North America say, before
// those of the browser. The API takes both.

export const COMMON_ZONES: Readonly<Record<string, string>> = {
  'Eastern Time (US & Canada)': 'America/New_York',
  'Central Time (US & Canada)': 'America/Chicago',
  'Mountain Time (US & Canada)': 'America/Denver',
  Arizona: 'America/Phoenix',
  'Pacific Time (US & Canada)': 'America/Los_Angeles',
  Alaska: 'America/Juneau',
  Hawaii: 'Pacific/Honolulu',
  'Atlantic Time (Canada)': 'America/Halifax',
};

const listZones = (): string[] => [
  ...Object.keys(COMMON_ZONES),
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC'),
];

/** The zone that a person means by the name of a city, in any spelling; undefined if unclear. */
function guessZone(typed: string): string | undefined {
  const city = typed.trim().toLowerCase().replaceAll(' ', '_');
  if (city === '') return undefined;
  const zones = listZones();
  const toCity = (name: string) => name.toLowerCase().split('/').at(-1);
  return (
    zones.find((name) => name.toLowerCase() === typed.trim().toLowerCase()) ??
    zones.find((name) => toCity(name) === city)
  );
}

/** An input that suggests zones: a word of their name finds them. */
export function ZoneInput(props: JSX.InputHTMLAttributes<HTMLInputElement>) {
  const listId = `${String(props.id)}-zones`;
  return (
    <>
      <input
        {...props}
        list={listId}
        autocomplete="off"
        placeholder="Type pacific, for example"
        // Suggestions are those that match: the first letter that is typed replaces the zone.
        onFocus={(event) => event.currentTarget.select()}
        onBlur={({ currentTarget: input }) => {
          const zone = guessZone(input.value);
          if (zone === undefined || zone === input.value) return;
          input.value = zone;
          input.dispatchEvent(new Event('input', { bubbles: true }));
        }}
      />
      <datalist id={listId}>
        {listZones().map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
