import { ok } from '../api';
import { useLoaded } from '../loading';
import type { EditorProps } from '../nouns/layout';
import { useSession } from '../session';

const MAX_DISPOSITIONS = 1_000;

/** The dispositions of the company, by name; their keys are the values. */
export function DispositionSelect({ id, value, onChange, disabled }: EditorProps) {
  const { api, may } = useSession();
  const loaded = useLoaded(async () => {
    if (!may('dispositions:read')) return [];
    const query = { per_page: MAX_DISPOSITIONS };
    return (await ok(api.GET('/dispositions', { params: { query } }))).dispositions;
  }, [api]);
  const options = loaded.data ?? [];
  const isListed = value === '' || options.some(({ key }) => key === value);
  return (
    <select
      id={id}
      disabled={disabled}
      value={value as string}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="">None</option>
      {!isListed && <option value={value as string}>{value as string}</option>}
      {options.map(({ key, name }) => (
        <option key={key} value={key ?? ''}>
          {name ?? key}
        </option>
      ))}
    </select>
  );
}
