import { useRef, useState } from 'preact/hooks';
import { findNoun } from '../../contract';
import { FieldsDialog } from '../../form/fields-dialog';
import { mayDo } from '../../noun/access';
import type { FieldLayout } from '../../nouns/layout';
import { linkTo } from '../../route';
import { useSession } from '../../session';
import { showToast } from '../../toast';
import { send, type Json } from '../../transport';
import { PaymentTerms } from './payment-terms';

/** The field that names the owner of an account. */
export type AccountOwner = 'buyer_id' | 'traffic_source_id';

interface EntryKind {
  kind: 'deposit' | 'payment' | 'adjustment';
  title: string;
  help: string;
  amount: FieldLayout;
  done: string;
  /** The API takes money that goes out with a minus; people type it without. */
  isNegated?: true;
}

const ADJUSTMENT: EntryKind = {
  kind: 'adjustment',
  title: 'Adjust',
  help: 'Entries are never changed: a wrong one is corrected by another.',
  amount: { field: 'amount', label: 'Plus or minus', help: 'A minus lowers the balance.' },
  done: 'The account is adjusted.',
};

const KINDS: Readonly<Record<AccountOwner, readonly EntryKind[]>> = {
  buyer_id: [
    {
      kind: 'deposit',
      title: 'Deposit',
      help: 'What the buyer has paid in. A prepaid buyer gets calls again as soon as its balance pays for them.',
      amount: { field: 'amount', label: 'Amount', help: '' },
      done: 'The deposit is entered.',
    },
    ADJUSTMENT,
  ],
  traffic_source_id: [
    {
      kind: 'payment',
      title: 'Record a payout',
      help: 'What you have paid to the source. Nothing is transferred by this.',
      amount: { field: 'amount', label: 'Amount paid', help: '' },
      done: 'The payout is recorded.',
      isNegated: true,
    },
    ADJUSTMENT,
  ],
};

const NOTE: FieldLayout = { field: 'note', label: 'Note', help: 'Shown on statements.' };

interface AccountButtonsProps {
  owner: AccountOwner;
  id: unknown;
  name: string;
  onEntered: () => void;
}

/** Entries by hand on one account, and the way to its entries and statements. */
export function AccountButtons({ owner, id, name, onEntered }: AccountButtonsProps) {
  const session = useSession();
  const [open, setOpen] = useState<EntryKind>();
  const post = usePostOnce();
  const noun = findNoun(session.contract, 'account_entries');
  const run = async ({ amount, ...body }: Json) => {
    const signed = open!.isNegated ? -Number(amount) : amount;
    await post({ ...body, [owner]: String(id), kind: open!.kind, amount: signed });
    showToast(open!.done);
    onEntered();
  };
  return (
    <span class="enter">
      {mayDo(session, noun, 'create') &&
        KINDS[owner].map((kind) => (
          <button
            key={kind.kind}
            type="button"
            aria-label={`${kind.title}: ${name}`}
            onClick={() => setOpen(kind)}
          >
            {kind.title}
          </button>
        ))}
      {owner === 'buyer_id' && <PaymentTerms id={id} name={name} onChanged={onEntered} />}
      <a
        class="button"
        aria-label={`Entries: ${name}`}
        href={linkTo('account_entries', null, { [owner]: String(id) })}
      >
        Entries
      </a>
      {session.may('statements:read') && (
        <a
          class="button"
          aria-label={`Statements: ${name}`}
          href={linkTo('statements', null, { [owner]: String(id) })}
        >
          Statements
        </a>
      )}
      {open && (
        <FieldsDialog
          title={`${open.title}: ${name}`}
          help={open.help}
          submit={open.title}
          fields={noun.write}
          layouts={[open.amount, NOTE]}
          run={run}
          onClose={() => setOpen(undefined)}
        />
      )}
    </span>
  );
}

/**
 * Posts an entry. One that is sent again because its answer was lost has the key of the first
 * time, so that no money is entered twice.
 */
function usePostOnce() {
  const { transport } = useSession();
  const last = useRef({ text: '', key: '' });
  return async (body: Json) => {
    const text = JSON.stringify(body);
    if (last.current.text !== text) last.current = { text, key: makeKey() };
    await send(transport, 'POST', '/account_entries', {
      body,
      idempotencyKey: last.current.key,
    });
    last.current = { text: '', key: '' };
  };
}

/** `crypto.randomUUID` exists only where the page came by https. */
const makeKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
