import { useId } from 'preact/hooks';

export const formatTokens = (tokens: Record<string, unknown> | undefined): string =>
  Object.entries(tokens ?? {})
    .map(([name, value]) => `${name}=${String(value)}`)
    .join('\n');

/** Lines of `name=value`. */
export function readTokens(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split('=');
      return [name.trim(), rest.join('=').trim()];
    }),
  );
}

/** The tokens of a call or a lead, as lines of text. */
export function Tokens({ value, onInput }: { value: string; onInput: (text: string) => void }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Tokens</label>
      <textarea
        id={id}
        rows={3}
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <small id={`${id}-hint`} class="quiet">
        One a line, as name=value
      </small>
    </div>
  );
}
