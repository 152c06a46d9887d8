import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { ApiError, describeProblem } from '../api-error';
import type { Loaded } from '../loading';

type Children = { children?: ComponentChildren };

export function Panel({
  title,
  headerContent,
  children,
  wide,
}: Children & { title: string; headerContent?: ComponentChildren; wide?: boolean }) {
  const id = useId();
  return (
    <section class={wide ? 'panel wide' : 'panel'} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {headerContent}
      </header>
      {children}
    </section>
  );
}

/** An error, field by field where the API reports fields. */
export function Problem({ error, onReload }: { error: unknown; onReload?: () => void }) {
  if (error === undefined) return null;
  const isOutdated = error instanceof ApiError && error.isOutdated;
  const { message, faults } = describeProblem(error);
  return (
    <div class="notice bad" role="alert">
      {message !== undefined && <p>{message}</p>}
      {faults.length > 0 && (
        <ul>
          {faults.map(([field, text]) => (
            <li key={field}>
              <b>{field}</b> {text}
            </li>
          ))}
        </ul>
      )}
      {isOutdated && onReload && (
        <button type="button" onClick={onReload}>
          Load it again
        </button>
      )}
    </div>
  );
}

export const Done = ({ text }: { text: string | undefined }) => (
  <p class="notice good" role="status" hidden={text === undefined}>
    {text}
  </p>
);

/** Stands where something is about to be shown. */
export const Loading = () => <p class="quiet loading">Loading…</p>;

/** The loaded data, a note that it is loading, or the error. */
export function Show<T>({
  of,
  children,
}: {
  of: Loaded<T>;
  children: (data: T) => ComponentChildren;
}) {
  if (of.error !== undefined) return <Problem error={of.error} onReload={of.reload} />;
  if (of.data === undefined) return <Loading />;
  return <>{children(of.data)}</>;
}

export interface Column<Row> {
  name: string;
  of: (row: Row) => ComponentChildren;
  /** Numbers are on the right, below each other. */
  number?: boolean;
}

interface TableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  getKey: (row: Row) => string | number;
  empty: string;
  /** On a phone each row is a card. */
  hasCards?: boolean;
}

export function Table<Row>({ caption, columns, rows, getKey, empty, hasCards }: TableProps<Row>) {
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  return (
    <div
      class={hasCards ? 'scroll cards' : 'scroll'}
      role="region"
      aria-label={caption}
      tabIndex={0}
    >
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, number }) => (
              <th key={name} scope="col" class={number ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={getKey(row)}>
              {columns.map(({ name, of, number }) => (
                <td key={name} class={number ? 'number' : ''} data-label={name}>
                  {of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Field({
  label,
  hint,
  error,
  ...input
}: {
  label: string;
  hint?: string;
  error?: string | undefined;
} & JSX.HTMLAttributes<HTMLInputElement> &
  JSX.InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        aria-describedby={hint || error ? `${id}-hint` : undefined}
        aria-invalid={error === undefined ? undefined : true}
        {...input}
      />
      {(error ?? hint) && (
        <small id={`${id}-hint`} class={error === undefined ? 'quiet' : 'error'}>
          {error ?? hint}
        </small>
      )}
    </div>
  );
}

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export const Badge = ({ tone = 'plain', children }: Children & { tone?: Tone }) => (
  <span class={`badge ${tone}`}>{children}</span>
);

export const Facts = ({ facts }: { facts: readonly [string, ComponentChildren][] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

export const Tile = ({ name, value, note }: { name: string; value: string; note?: string }) => (
  <div class="tile">
    <dt>{name}</dt>
    <dd>{value}</dd>
    {note && <dd class="quiet">{note}</dd>}
  </div>
);
