import { findNoun } from '../contract';
import { useForm } from '../form/use-form';
import { toFieldLayout, type NounLayout } from '../nouns/layout';
import { useSession } from '../session';
import { send, type Json } from '../transport';
import { mayDo } from './access';
import { StoredForm } from './stored-form';

interface UpdateFormProps {
  layout: NounLayout;
  record: Json;
  tag: string;
  reload: () => Promise<void>;
  /** Calls are changed by POST. */
  method?: 'POST' | 'PUT';
}

/** A few fields of a record whose page shows much else; the layout has all that are changed. */
export function UpdateForm({ layout, record, tag, reload, method = 'PUT' }: UpdateFormProps) {
  const session = useSession();
  const noun = findNoun(session.contract, layout.noun);
  const names = layout.groups.flatMap(({ fields }) => fields.map(toFieldLayout));
  const fields = Object.fromEntries(
    names.flatMap(({ field }) => (noun.write[field] ? [[field, noun.write[field]]] : [])),
  );
  const path = `/${layout.noun}/${String(record.id)}`;
  const form = useForm({
    fields,
    reads: layout.reads,
    record,
    tag,
    save: async (body, sentTag) => {
      const answer = await send(session.transport, method, path, {
        body,
        ...(method === 'PUT' && { tag: sentTag }),
      });
      return { record: answer.data[noun.record_key] as Json, tag: answer.tag };
    },
    loadLatest: async () => {
      const answer = await send(session.transport, 'GET', path);
      return { record: answer.data[noun.record_key] as Json, tag: answer.tag };
    },
  });
  if (!mayDo(session, noun, 'update')) return null;
  return <StoredForm layout={layout} noun={noun} fields={fields} form={form} reload={reload} />;
}
