import { toLabel } from '../../form/field';
import { dayTime, NOTHING } from '../../format';

interface Change {
  from: unknown;
  to: unknown;
}

const MAX_FIELDS = 3;
const MAX_TEXT = 120;

/** A value of the log in words; long ones are cut, since the log is read line by line. */
function showValue(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return NOTHING;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (name.endsWith('_at') && typeof value === 'string') return dayTime(value);
  if (Array.isArray(value) && value.length === 0) return 'none';
  const isFlat = Array.isArray(value) && value.every((entry) => typeof entry !== 'object');
  const text = isFlat ? value.join(', ') : toText(value);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

const toText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** The differences of an entry of the change log: the first few, and the others on request. */
export function Changes({ changes }: { changes: unknown }) {
  const entries = Object.entries(changes as Record<string, Change>);
  if (entries.length === 0) return <>{NOTHING}</>;
  const more = entries.slice(MAX_FIELDS);
  return (
    <>
      <Differences entries={entries.slice(0, MAX_FIELDS)} />
      {more.length > 0 && (
        <details>
          <summary>{more.length} more</summary>
          <Differences entries={more} />
        </details>
      )}
    </>
  );
}

const Differences = ({ entries }: { entries: readonly (readonly [string, Change])[] }) => (
  <ul class="plain differences">
    {entries.map(([name, { from, to }]) => (
      <li key={name}>
        <span class="quiet">{toLabel(name)}</span>{' '}
        {from !== null && (
          <>
            <del>{showValue(name, from)}</del> <span aria-hidden="true">→</span>{' '}
          </>
        )}
        <ins>{showValue(name, to)}</ins>
      </li>
    ))}
  </ul>
);
