import { useState } from 'preact/hooks';
import { ok } from '../api';
import { Dialog } from '../dialog';
import { useAction, useLoaded } from '../loading';
import { Badge, Problem } from '../parts/basics';
import { LabeledReference } from '../parts/labeled-reference';
import { goTo, linkTo } from '../route';
import { useSession } from '../session';
import { send } from '../transport';
import { changeBlock } from './block-caller';

interface CallerProps {
  /** The telephone number. */
  number: string;
  offerId?: number | null;
}

/** Calls a number back, or keeps it away from now on. */
export function CallerActions({ number, offerId }: CallerProps) {
  const { may, me, transport } = useSession();
  const [isBlocking, setBlocking] = useState(false);
  const mayBlacklist = may('contacts:update') && me.team_ids === null;
  const { isBlocked, reload } = useBlacklist(number);
  const unblock = useAction(() =>
    changeBlock(transport, { number, verb: 'unblock', path: '/contacts', changed: reload }),
  );
  const back = useAction(async () => {
    if (!confirm(`Call ${number} now, and connect it to a buyer of the offer?`)) return;
    const body = { to: number, ...(offerId && { offer_id: String(offerId) }) };
    const { data } = await send(transport, 'POST', '/calls', { body });
    const { id } = data.call as { id: number };
    goTo(linkTo('calls', id));
  });
  return (
    <div class="actions">
      {isBlocked && <Badge tone="bad">blocked</Badge>}
      {isBlocked && mayBlacklist && (
        <button type="button" disabled={unblock.is_busy} onClick={() => void unblock.run()}>
          Unblock
        </button>
      )}
      {may('calls:create') && (
        <button type="button" disabled={back.is_busy} onClick={() => void back.run()}>
          Call back
        </button>
      )}
      {(mayBlacklist || may('buyer_suppressions:update')) && (
        <button type="button" onClick={() => setBlocking(true)}>
          Block this caller
        </button>
      )}
      <Problem error={back.error ?? unblock.error} />
      {isBlocking && (
        <BlockDialog
          number={number}
          mayBlacklist={mayBlacklist}
          changed={reload}
          onClose={() => setBlocking(false)}
        />
      )}
    </div>
  );
}

/** Asks whether the blacklist of the company has the number. */
function useBlacklist(number: string) {
  const { api, may } = useSession();
  const { data, reload } = useLoaded(async () => {
    if (!may('contacts:read')) return false;
    const query = { caller_id: number, blocked: true, per_page: 1 };
    return (await ok(api.GET('/contacts', { params: { query } }))).contacts.length > 0;
  }, [api, number]);
  return { isBlocked: data ?? false, reload };
}

interface BlockDialogProps {
  number: string;
  mayBlacklist: boolean;
  changed: () => Promise<void>;
  onClose: () => void;
}

/** For the whole company, or for the buyers that use a suppression list. */
function BlockDialog({ number, mayBlacklist, changed, onClose }: BlockDialogProps) {
  const { may, transport } = useSession();
  const mayList = may('buyer_suppressions:update');
  const [isWhole, setWhole] = useState(mayBlacklist);
  const [list, setList] = useState('');
  const path = isWhole ? '/contacts' : `/buyer_suppressions/${list}`;
  const { run, is_busy, error } = useAction(async () => {
    await changeBlock(transport, { number, verb: 'block', path, changed });
    onClose();
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void run();
  };
  return (
    <Dialog title={`Block ${number}`} onClose={onClose}>
      <form onSubmit={submit}>
        <fieldset class="choice">
          <legend>From</legend>
          {mayBlacklist && (
            <label>
              <input type="radio" name="from" checked={isWhole} onChange={() => setWhole(true)} />
              the whole company: calls, texts and leads
            </label>
          )}
          {mayList && (
            <label>
              <input type="radio" name="from" checked={!isWhole} onChange={() => setWhole(false)} />
              buyers with a suppression list
            </label>
          )}
        </fieldset>
        {!isWhole && (
          <LabeledReference
            label="Suppression list"
            noun="buyer_suppressions"
            value={list}
            onChange={setList}
          />
        )}
        <Problem error={error} />
        <button class="primary" disabled={is_busy || (!isWhole && list === '')}>
          Block
        </button>
      </form>
    </Dialog>
  );
}
