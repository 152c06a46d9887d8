import type { Schemas } from '../api';
import { count } from '../format';
import { Badge, type Tone } from './basics';

type File = Schemas['BuyerSuppressionFile'];

const TONES: Partial<Record<string, Tone>> = { succeeded: 'good', failed: 'bad', stopped: 'warn' };

export function Progress({ file }: { file: File }) {
  const name = file.name ?? `File ${file.id}`;
  const of = file.total_count === null ? '' : ` of ${count(file.total_count)}`;
  return (
    <div class="bar">
      <div class="bar-text">
        <span>{name}</span>
        <Badge tone={TONES[file.status ?? ''] ?? 'plain'}>{file.status}</Badge>
      </div>
      <progress max={100} value={file.import_percent ?? 0} aria-label={`Progress of ${name}`} />
      <small class="quiet">
        {count(file.import_count)}
        {of} rows imported, {count(file.rejected_count)} rejected
      </small>
      {file.error_message && <small class="error">{file.error_message}</small>}
    </div>
  );
}
