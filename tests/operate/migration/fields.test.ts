import { buildFieldReader } from '../../../src/operate/migration/fields';

const read = (recordingUrl: string) => {
  const notes: string[] = [];
  const context = { read: () => null, existingIds: new Map(), now: new Date() };
  const fields = buildFieldReader(
    { recording_url: recordingUrl } as never,
    context as never,
    (field, why) => {
      notes.push(`${field} ${why}`);
    },
  );
  return [fields.url('recording_url'), notes] as const;
};

test('a recording moves in with its URL, unless that is no http or https URL', () => {
  expect(read('https://example.com/1.mp3')).toEqual(['https://example.com/1.mp3', []]);
  for (const url of ['javascript:alert(1)', 'ftp://example.com/1.mp3', '/recordings/1'])
    expect(read(url)).toEqual([
      null,
      [`recording_url left out: ${JSON.stringify(url)} is no http or https URL`],
    ]);
});
