import { sentence, words } from '../format';
import type { EditorProps } from '../nouns/layout';
import { useSession } from '../session';
import { countChosen, ROLES, type Role, setPermissions, toMatrix } from './permissions';

/** Nouns whose name in the API is not that of the trade. */
const NOUN_WORDS: Readonly<Record<string, string>> = {
  access_control_lists: 'Teams',
  access_tokens: 'Keys and sessions',
  account_entries: 'Money: entries',
  change_logs: 'Change log',
  company_wide: 'Settings of the whole company',
  traffic_sources: 'Sources',
  traffic_source_tokens: 'Tokens of sources',
  webhook_logs: 'Deliveries of webhooks',
  webhook_manual_fires: 'Webhooks fired by hand',
  phone_numbers: 'Numbers',
  agent_status_timestamps: 'History of agents',
};

/** A tick for each noun and verb of the API: the rights of a team or a key. */
export function PermissionMatrix({ id, label, field, value, onChange, disabled }: EditorProps) {
  const { me } = useSession();
  const all = field.items?.enum ?? [];
  const chosen = (value ?? []) as string[];
  // One can only grant what one has.
  const mayGrant = (scope: string) => me.superuser || (me.permissions as string[]).includes(scope);
  const { verbs, rows } = toMatrix(all);
  const set = (scopes: readonly string[], isGranted: boolean) =>
    onChange(setPermissions(all, chosen, scopes.filter(mayGrant), isGranted));
  return (
    <div id={id} role="group" aria-label={label}>
      {!disabled && (
        <Roles grant={(has) => onChange(all.filter((scope) => has(scope) && mayGrant(scope)))} />
      )}
      <div class="scroll matrix" role="region" aria-label={`${label}, by kind`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">May</th>
              {verbs.map((verb) => (
                <th key={verb} scope="col">
                  {words(verb)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ noun, scopes }) => (
              <tr key={noun}>
                <th scope="row">
                  <RowTick
                    name={NOUN_WORDS[noun] ?? sentence(noun)}
                    state={countChosen(chosen, Object.values(scopes))}
                    disabled={disabled}
                    onChange={(isGranted) => set(Object.values(scopes), isGranted)}
                  />
                </th>
                {verbs.map((verb) => (
                  <td key={verb}>
                    {scopes[verb] && (
                      <input
                        type="checkbox"
                        aria-label={`${NOUN_WORDS[noun] ?? sentence(noun)}: ${words(verb)}`}
                        disabled={disabled || !mayGrant(scopes[verb])}
                        checked={chosen.includes(scopes[verb])}
                        onChange={(event) => set([scopes[verb]!], event.currentTarget.checked)}
                      />
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <small class="quiet">
        Money: fields that set prices. Routing: fields that decide who gets a call. Both are needed
        in addition to create or update. Operate: orders to a telephone switch.
      </small>
    </div>
  );
}

/** Buttons that grant what people of a role need. */
const Roles = ({ grant }: { grant: (has: Role['has']) => void }) => (
  <>
    <div class="actions">
      {ROLES.map(({ title, has }) => (
        <button key={title} type="button" onClick={() => grant(has)}>
          {title}
        </button>
      ))}
      <button type="button" onClick={() => grant(() => true)}>
        Everything
      </button>
      <button type="button" onClick={() => grant(() => false)}>
        Nothing
      </button>
    </div>
    <ul class="plain quiet">
      {ROLES.map(({ title, about }) => (
        <li key={title}>
          <small>
            {title}: {about}.
          </small>
        </li>
      ))}
    </ul>
  </>
);

interface RowTickProps {
  name: string;
  state: ReturnType<typeof countChosen>;
  disabled: boolean;
  onChange: (isGranted: boolean) => void;
}

/** Ticks a whole row; half a tick where only some are chosen. */
const RowTick = ({ name, state, disabled, onChange }: RowTickProps) => (
  <label class="row-tick">
    <input
      type="checkbox"
      disabled={disabled}
      checked={state === 'all'}
      ref={(input) => {
        if (input) input.indeterminate = state === 'some';
      }}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
    {name}
  </label>
);
