import { useMemo } from 'preact/hooks';
import { findNoun } from '../../contract';
import type { Fields } from '../../../noun-contract';
import { useForm } from '../../form/use-form';
import { useLoaded } from '../../loading';
import { StoredForm } from '../../noun/stored-form';
import { Show } from '../../parts/basics';
import { useSession } from '../../session';
import { send, type Answer, type Json } from '../../transport';
import { company as layout } from './company-layout';

interface Company {
  record: Json;
  tag: string;
}

const read = ({ data, tag }: Answer): Company => ({ record: data.company as Json, tag });

/** The settings of the company: one record, which is neither made nor deleted here. */
export function CompanyView() {
  const { transport } = useSession();
  const load = async () => read(await send(transport, 'GET', '/company'));
  const loaded = useLoaded(load, []);
  return (
    <>
      <h1>Company</h1>
      <p class="quiet">{layout.about}</p>
      <Show of={loaded}>
        {(company) => <CompanyForm {...company} load={load} reload={loaded.reload} />}
      </Show>
    </>
  );
}

interface CompanyFormProps extends Company {
  load: () => Promise<Company>;
  reload: () => Promise<void>;
}

function CompanyForm({ record, tag, load, reload }: CompanyFormProps) {
  const session = useSession();
  const noun = findNoun(session.contract, 'company');
  const fields = useMemo(() => keepNulls(noun.write), [noun]);
  const form = useForm({
    fields,
    reads: undefined,
    record,
    tag,
    save: async (body, latest) =>
      read(await send(session.transport, 'PUT', '/company', { body, tag: latest })),
    loadLatest: load,
  });
  return <StoredForm layout={layout} noun={noun} fields={fields} form={form} reload={reload} />;
}

/** Inputs of lists make a missing list an empty one; here the two differ. */
const keepNulls = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field.type === 'array' && field.nullable ? { ...field, type: 'any' as const } : field,
    ]),
  );
