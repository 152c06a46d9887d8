import { useAction } from '../../loading';
import { Problem } from '../../parts/basics';
import { useSession } from '../../session';
import { showToast } from '../../toast';
import { send, type Json } from '../../transport';

/** A question before a dial is of use only at its moment. */
export const mayRepeat = ({ trigger_type: trigger }: Json): boolean =>
  trigger !== 'before_buyer_dialled';

export const REPEATED = 'It is sent again. The next attempt is a delivery of its own.';

/** The button of a failed delivery in a table. */
export function SendAgain({ log }: { log: Json }) {
  const { transport, may } = useSession();
  const id = String(log.id);
  const { run, error, is_busy } = useAction(async () => {
    await send(transport, 'POST', `/webhook_logs/${id}/redeliver`);
    showToast(REPEATED);
  });
  if (log.success === true || !mayRepeat(log) || !may('webhook_logs:update')) return null;
  return (
    <>
      <button
        type="button"
        aria-label={`Send again: delivery ${id}`}
        disabled={is_busy}
        onClick={() => void run()}
      >
        Send again
      </button>
      <Problem error={error} />
    </>
  );
}
