import { findRecord } from '../../data/records';
import { keepingUpload, type Call, type Handlers } from '../../api/handlers';
import { loadWriteReply } from '../../api/records/record';
import { Download } from '../../api/reply/reply';
import { digestFile } from '../../api/request/upload';
import { BASE_PATH } from '../../platform/contract/contract';
import { HttpProblem, notFound } from '../../platform/errors';
import { AUDIO_ENDINGS, type AudioType } from '../../platform/storage/file-format';
import type { Deps } from '../deps';
import { callProjection as projection } from './columns';
import { STORE_RECORDING } from './queries/recordings';
import { readCall } from './read-call';

/** Recordings of calls that a softswitch stores here. */
export const recordings = ({ clock, storage, config }: Deps) =>
  ({
    storeRecording: keepingUpload<'storeRecording'>(async ({ params, upload, db }) => {
      const { storedFile, media_type } = upload ?? {};
      if (!upload || !storedFile || !media_type)
        throw HttpProblem.field('recording', 'missing_field', 'must be given: the audio');
      const now = clock();
      const { id } = await readCall(db, params.id);
      const sha256 = await digestFile(upload);
      // An error of the connection does not tell whether this was written.
      storedFile.is_used = true;
      const [row] = await db.sql(STORE_RECORDING, {
        ...{ call_id: id, now, file_key: storedFile.key, media_type, sha256 },
        recording_url: `${config.public_url}${BASE_PATH}/calls/${id}/recording`,
      });
      const { outcome } = row!;
      storedFile.is_used = outcome === 'stored';
      if (outcome === 'gone') throw notFound();
      return loadWriteReply({ db, now, projection }, BigInt(id));
    }),

    downloadRecording: async ({ params, db }: Call<'downloadRecording'>) => {
      const callId = await findRecord(db, 'calls', params.id);
      const recording = await db.prisma.callRecording.findFirst({ where: { call_id: callId } });
      const file = recording && (await storage.open(recording.file_key));
      if (!file) throw notFound();
      const { media_type } = recording;
      const name = `call-${callId}.${AUDIO_ENDINGS[media_type as AudioType]}`;
      return new Download(file.stream, name, file.bytes, media_type);
    },
  }) satisfies Partial<Handlers>;
