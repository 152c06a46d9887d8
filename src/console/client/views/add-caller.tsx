import { useState } from 'preact/hooks';
import type { Schemas } from '../api';
import { changeBlock } from '../calls/block-caller';
import { useAction } from '../loading';
import { Field, Problem } from '../parts/basics';
import { LabeledReference } from '../parts/labeled-reference';
import { Select } from '../parts/select';
import { useSession } from '../session';
import { RejectedNumbers } from './suppression-numbers';

const EVERYWHERE = { company: 'Everywhere: the company’s blacklist' };
const LIST = { list: 'A suppression list' };

interface AddCallerProps {
  reload: () => Promise<void>;
  /** Everywhere, without the choice of a list. */
  isForAll?: boolean;
}

/** Keeps one caller away: everywhere, or by a list. */
export function AddCaller({ reload, isForAll = false }: AddCallerProps) {
  const { transport, me, may } = useSession();
  const mayBlockEverywhere = me.team_ids === null && may('contacts:update');
  const choices = {
    ...(!isForAll && may('buyer_suppressions:update') && LIST),
    ...(mayBlockEverywhere && EVERYWHERE),
  };
  const [number, setNumber] = useState('');
  const [where, setWhere] = useState(Object.keys(choices)[0] ?? '');
  const [list, setList] = useState('');
  const [rejected, setRejected] = useState<Schemas['CallerIdsReply']['rejected']>([]);
  const block = useAction(async () => {
    const path = where === 'company' ? '/contacts' : `/buyer_suppressions/${list}`;
    const change = { number: number.trim(), path, changed: reload };
    const refused = await changeBlock(transport, { ...change, verb: 'block' });
    setRejected(refused);
    if (refused.length === 0) setNumber('');
  });
  if (Object.keys(choices).length === 0) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    void block.run();
  };
  const isReady = number.trim() !== '' && (where === 'company' || list !== '');
  return (
    <details class="panel">
      <summary>Block a caller</summary>
      <form onSubmit={submit}>
        <div class="group-fields">
          <Field
            label="The caller’s number"
            type="tel"
            maxLength={100}
            placeholder="(213) 555-0147"
            value={number}
            onInput={(event) => setNumber(event.currentTarget.value)}
          />
          {!isForAll && (
            <Select label="Where" choices={choices} value={where} onChange={setWhere} />
          )}
          {where === 'list' && (
            <LabeledReference
              label="Suppression list"
              noun="buyer_suppressions"
              value={list}
              onChange={setList}
            />
          )}
        </div>
        <Problem error={block.error} />
        <RejectedNumbers rejected={rejected} />
        <button disabled={block.is_busy || !isReady}>Block the caller</button>
      </form>
    </details>
  );
}
