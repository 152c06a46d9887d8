import { ok } from '../api';
import { dayTime } from '../format';
import { useLive, useLoaded } from '../loading';
import type { PanelProps } from '../nouns/layout';
import { Panel, Show } from '../parts/basics';
import { Progress } from '../parts/progress';
import { linkTo } from '../route';
import { useSession } from '../session';

const SHOWN = 5;

/** The latest files of a suppression list. */
export function SuppressionFiles({ record, reload }: PanelProps) {
  const { api, may } = useSession();
  const id = String(record.id);
  const loaded = useLoaded(async () => {
    const query = { buyer_suppression_id: id, per_page: SHOWN, order_dir: 'desc' as const };
    return ok(api.GET('/buyer_suppression_files', { params: { query } }));
  }, [api, id]);
  useLive(
    ({ kind }) => kind === 'import',
    () => void Promise.all([loaded.reload(), reload()]),
  );
  if (!may('buyer_suppression_files:read')) return null;
  return (
    <Panel
      title="Uploads"
      headerContent={
        may('buyer_suppression_files:create') && (
          <a href={linkTo('buyer_suppression_files', 'new', { list: id })}>Upload a file</a>
        )
      }
    >
      <Show of={loaded}>
        {({ buyer_suppression_files: files, metadata }) => (
          <>
            {files.length === 0 && <p class="quiet">No file was uploaded to it yet.</p>}
            <ul class="plain">
              {files.map((file) => (
                <li key={file.id}>
                  <Progress file={file} />
                  <a href={linkTo('buyer_suppression_files', file.id)}>
                    Details<span class="hidden"> of {file.name ?? `file ${file.id}`}</span>
                  </a>{' '}
                  <small class="quiet">{dayTime(file.created_at)}</small>
                </li>
              ))}
            </ul>
            {metadata.total_count > files.length && (
              <a href={linkTo('buyer_suppression_files', null, { buyer_suppression_id: id })}>
                All uploads
              </a>
            )}
          </>
        )}
      </Show>
    </Panel>
  );
}
