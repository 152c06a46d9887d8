import { useState } from 'preact/hooks';
import { useLoaded } from '../../loading';
import type { EditorProps } from '../../nouns/layout';
import { useSession, type Session } from '../../session';
import { send, type Json } from '../../transport';
import { fillTemplate, findJsonFault, listTokens, toTokens, type Tokens } from './template';

interface Example {
  title: string;
  tokens: Tokens;
}

/** The newest call, whose tokens stand in for those of an event. */
async function loadExample({ transport, may }: Session): Promise<Example | undefined> {
  if (!may('calls:read')) return undefined;
  const { data } = await send(transport, 'GET', '/calls', {
    query: { per_page: 1, order_dir: 'desc', root: false },
  }).catch(() => ({ data: {} as Json }));
  const rows = Array.isArray(data) ? (data as Json[]) : ((data.calls ?? []) as Json[]);
  const [call] = rows;
  return call && { title: `call ${String(call.id)}`, tokens: toTokens(call) };
}

/** The body of a webhook with its tokens, and how it would read for the newest call. */
export function BodyEditor({ id, value, onChange, disabled, errors }: EditorProps) {
  const session = useSession();
  const [isShown, setShown] = useState(false);
  const example = useLoaded(() => loadExample(session), []);
  const template = (value ?? '') as string;
  const body = fillTemplate(template, example.data?.tokens ?? {});
  const fault = findJsonFault(body);
  return (
    <>
      <textarea
        id={id}
        class="code"
        rows={8}
        spellcheck={false}
        disabled={disabled}
        aria-invalid={errors.length > 0}
        placeholder="Empty: the whole event, as JSON"
        value={template}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {template !== '' && (
        <>
          <div>
            <button type="button" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
              Preview
            </button>
          </div>
          {isShown && (
            <figure class="preview">
              <figcaption class="quiet">
                {example.data
                  ? `As it would read for ${example.data.title}.`
                  : 'There is no call yet whose tokens could stand in.'}
                {listTokens(template).length === 0 && ' It has no tokens.'}
              </figcaption>
              <pre class="code">{body}</pre>
              {fault && <p class="error">This begins like JSON and is none: {fault}</p>}
            </figure>
          )}
        </>
      )}
    </>
  );
}
