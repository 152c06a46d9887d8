import type { Schemas } from '../api';
import { showToast } from '../toast';
import { send, type Transport } from '../transport';

const DONE = { block: 'is blocked.', unblock: 'is no longer blocked.' };

type Rejected = Schemas['CallerIdsReply']['rejected'];

interface BlockChange {
  number: string;
  verb: keyof typeof DONE;
  /** `/contacts` for the whole company, or the path of a suppression list. */
  path: string;
  changed?: () => unknown;
}

/**
 * Blocks a number or takes that back, and offers the opposite for a while. Returns why nothing was
 * done; empty where it was.
 */
export async function changeBlock(transport: Transport, change: BlockChange): Promise<Rejected> {
  const { number, verb, path, changed } = change;
  const opposite = verb === 'block' ? 'unblock' : 'block';
  const body = { caller_ids: [number] };
  const { data } = await send(transport, 'POST', `${path}/caller_${verb}`, { body });
  const rejected = data.rejected as Rejected;
  if (rejected.length > 0) return rejected;
  await changed?.();
  const undo = () => {
    changeBlock(transport, { ...change, verb: opposite }).catch((fault: Error) =>
      showToast(fault.message, { tone: 'bad' }),
    );
  };
  showToast(`${number} ${DONE[verb]}`, { undo });
  return [];
}
