import { RecordName } from '../../noun/record-name';
import type { Json } from '../../transport';

/** Whose account an entry or a statement is of. */
export const AccountName = ({ record }: { record: Json }) =>
  record.buyer_id === null || record.buyer_id === undefined ? (
    <RecordName noun="traffic_sources" id={record.traffic_source_id} />
  ) : (
    <RecordName noun="buyers" id={record.buyer_id} />
  );
