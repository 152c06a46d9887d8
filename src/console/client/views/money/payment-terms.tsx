import { useState } from 'preact/hooks';
import { findNoun } from '../../contract';
import { FieldsDialog } from '../../form/fields-dialog';
import { toInputs } from '../../form/model';
import { useAction } from '../../loading';
import { fullSerializer, mayDo, mayWriteField } from '../../noun/access';
import type { FieldLayout } from '../../nouns/layout';
import { Problem } from '../../parts/basics';
import { useSession } from '../../session';
import { showToast } from '../../toast';
import { send, type Json } from '../../transport';

/** The fields that say how a buyer pays. */
export const PAYMENT_TERMS: readonly FieldLayout[] = [
  {
    field: 'prepaid',
    label: 'Pays in advance',
    help: 'Its calls stop when the balance is used up. Otherwise they go on, and it owes you.',
  },
  {
    field: 'credit_limit',
    label: 'May owe up to',
    help: 'So far below 0 its balance may fall before its calls stop.',
    when: ({ prepaid }) => prepaid === true,
  },
  {
    field: 'balance_low_limit',
    label: 'Warn when the balance is below',
    help: 'By your webhooks and alert rules for low balances. Empty: no warning.',
    when: ({ prepaid }) => prepaid === true,
  },
];

interface PaymentTermsProps {
  id: unknown;
  name: string;
  onChanged: () => void;
}

/** Changes whether a buyer pays in advance, where its balance is read. */
export function PaymentTerms({ id, name, onChanged }: PaymentTermsProps) {
  const session = useSession();
  const { transport, contract } = session;
  const [buyer, setBuyer] = useState<Json>();
  const noun = findNoun(contract, 'buyers');
  const path = `/buyers/${String(id)}`;
  const open = useAction(async () => {
    const query = { serializer: fullSerializer(noun) };
    setBuyer((await send(transport, 'GET', path, { query })).data.buyer as Json);
  });
  const isWritable = ({ field }: FieldLayout): boolean =>
    noun.write[field] !== undefined && mayWriteField(session, noun, noun.write[field]);
  if (!mayDo(session, noun, 'update') || !PAYMENT_TERMS.every(isWritable)) return null;
  const fields = Object.fromEntries(PAYMENT_TERMS.map(({ field }) => [field, noun.write[field]!]));
  const run = async ({ prepaid = false, credit_limit = 0, balance_low_limit = null }: Json) => {
    await send(transport, 'PUT', path, { body: { prepaid, credit_limit, balance_low_limit } });
    showToast(prepaid === true ? `${name} pays in advance.` : `${name} pays later.`);
    onChanged();
  };
  return (
    <>
      <button
        type="button"
        aria-label={`How it pays: ${name}`}
        disabled={open.is_busy}
        onClick={() => void open.run()}
      >
        How it pays
      </button>
      <Problem error={open.error} />
      {buyer && (
        <FieldsDialog
          title={`How it pays: ${name}`}
          submit="Save"
          fields={fields}
          layouts={PAYMENT_TERMS}
          presets={toInputs(fields, buyer, undefined)}
          run={run}
          onClose={() => setBuyer(undefined)}
        />
      )}
    </>
  );
}
