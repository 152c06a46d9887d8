import { useEffect, useState } from 'preact/hooks';
import { NOTHING } from '../format';
import { useSession, type Session } from '../session';
import { send, type Json, type Transport } from '../transport';
import { findBlock } from './find-block';

/** The newest changes to contacts, which all rows of a page read together. */
const recent = new WeakMap<Transport, { at: number; logs: Promise<Json[]> }>();
const FRESH_MS = 5_000;
const MAX_LOGS = 200;

function loadChanges({ transport }: Session): Promise<Json[]> {
  const held = recent.get(transport);
  if (held && Date.now() - held.at < FRESH_MS) return held.logs;
  const query = { record_type: 'Contact', order_dir: 'desc', per_page: MAX_LOGS };
  const logs = send(transport, 'GET', '/change_logs', { query }).then(
    ({ data }) => data.change_logs as Json[],
  );
  recent.set(transport, { at: Date.now(), logs });
  return logs;
}

/** Who blocked a caller, as far as the change log has it. */
export function BlockedBy({ contact }: { contact: Json }) {
  const session = useSession();
  const [name, setName] = useState<string>();
  useEffect(() => {
    if (!session.may('change_logs:read')) return;
    loadChanges(session).then(
      (logs) => {
        const log = findBlock(logs, contact);
        setName(log && String(log.user_email ?? log.credentials));
      },
      () => undefined,
    );
  }, [contact.caller_id, contact.blocked_at]);
  return <>{name ?? NOTHING}</>;
}
