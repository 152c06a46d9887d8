import { useState } from 'preact/hooks';
import type { Schemas } from '../api';
import { findNoun } from '../contract';
import { FieldsDialog } from '../form/fields-dialog';
import { dollars } from '../format';
import { mayWriteField } from '../noun/access';
import type { FieldLayout } from '../nouns/layout';
import { useSession } from '../session';
import { showToast } from '../toast';
import { send, type Json } from '../transport';

type Call = Schemas['Call'];

interface MoneyAction {
  title: string;
  help: string;
  submit: string;
  done: string;
  layouts: readonly FieldLayout[];
  /** Sent in addition to the typed fields. */
  body: Json;
}

const REASON: FieldLayout = {
  field: 'adjustment_reason',
  label: 'Reason',
  placeholder: 'Wrong number, not interested, …',
  help: 'Kept in the history of the call.',
};

/** A source is paid for calls that a buyer pays for: who returns one takes the payout back too. */
function describeLoss({ traffic_source_id: source, ...call }: Call): string {
  if (call.traffic_source_converted)
    return `The source loses its payout of ${dollars(call.payout)}; “Pay the source” gives it again.`;
  return source === null ? '' : 'No payout is taken back: the source was not paid.';
}

/** The changes to the money of a call that these credentials may make. */
function listMoneyActions(call: Call, mayWrite: (name: string) => boolean): MoneyAction[] {
  const actions: MoneyAction[] = [];
  if (mayWrite('buyer_converted') && call.buyer_converted)
    actions.push({
      title: 'Return the call',
      help: `The buyer gets its ${dollars(call.revenue)} back, and its caps count one call less. ${describeLoss(call)}`,
      submit: 'Return it',
      done: 'The call is returned.',
      layouts: [REASON],
      body: { buyer_converted: false },
    });
  if (mayWrite('buyer_converted') && !call.buyer_converted && call.buyer_id !== null)
    actions.push({
      title: 'Mark as paid',
      help: 'The buyer pays what its price says.',
      submit: 'Mark as paid',
      done: 'The buyer pays for the call.',
      layouts: [REASON],
      body: { buyer_converted: true },
    });
  if (mayWrite('offer_converted') && call.traffic_source_id !== null)
    actions.push({
      title: call.traffic_source_converted ? 'Take back the payout' : 'Pay the source',
      help: call.traffic_source_converted
        ? `The source is no longer paid the ${dollars(call.payout)}.`
        : 'The source is paid what the offer says.',
      submit: call.traffic_source_converted ? 'Take it back' : 'Pay it',
      done: call.traffic_source_converted
        ? 'The payout is taken back.'
        : 'The source is paid for the call.',
      layouts: [REASON],
      body: { offer_converted: !call.traffic_source_converted },
    });
  if (mayWrite('add_revenue'))
    actions.push({
      title: 'Adjust amounts',
      help: 'Added to what stands now; a minus takes away. An empty field changes nothing.',
      submit: 'Adjust',
      done: 'The amounts are adjusted.',
      layouts: [
        { field: 'add_revenue', label: 'Revenue, plus or minus' },
        { field: 'add_payout', label: 'Payout, plus or minus' },
        REASON,
      ],
      body: {},
    });
  return actions;
}

/** Buttons for the money of a call; each asks for a reason. */
export function MoneyActions({ call, reload }: { call: Call; reload: () => Promise<void> }) {
  const session = useSession();
  const [open, setOpen] = useState<MoneyAction>();
  const noun = findNoun(session.contract, 'calls');
  if (!session.may('calls:update')) return null;
  const mayWrite = (name: string) => mayWriteField(session, noun, noun.write[name]);
  const run = async (body: Json) => {
    const path = `/calls/${call.id}`;
    const { data } = await send(session.transport, 'POST', path, {
      body: { ...open!.body, ...body },
    });
    const warnings = Object.values((data.warnings ?? {}) as Record<string, string[]>).flat();
    showToast(warnings.length > 0 ? warnings.join('. ') : open!.done);
    await reload();
  };
  return (
    <>
      <div class="actions">
        {listMoneyActions(call, mayWrite).map((action) => (
          <button key={action.title} type="button" onClick={() => setOpen(action)}>
            {action.title}
          </button>
        ))}
      </div>
      {open && (
        <FieldsDialog
          title={open.title}
          help={open.help}
          submit={open.submit}
          fields={noun.write}
          layouts={open.layouts.filter(({ field }) => mayWrite(field))}
          run={run}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}
