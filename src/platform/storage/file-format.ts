import { open } from 'node:fs/promises';

const SIGNATURES: [string, string][] = [
  ['504b0304', 'a ZIP archive or an Excel workbook: unpack it, or save it as CSV'],
  ['504b0506', 'an empty ZIP archive'],
  ['d0cf11e0', 'an Excel or Word document: save it as CSV'],
  ['25504446', 'a PDF document'],
  ['89504e47', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['47494638', 'a GIF image'],
  ['377abcaf', 'a 7z archive: unpack it first'],
  ['52617221', 'a RAR archive: unpack it first'],
  ['fd377a58', 'an xz archive: unpack it, or use gzip'],
  ['425a68', 'a bzip2 archive: unpack it, or use gzip'],
  ['28b52ffd', 'a zstd archive: unpack it, or use gzip'],
];

/** Media types of audio that is taken, with the endings of their file names. */
export const AUDIO_ENDINGS = { 'audio/wav': 'wav', 'audio/mpeg': 'mp3', 'audio/ogg': 'ogg' };
export type AudioType = keyof typeof AUDIO_ENDINGS;

/**
 * The type of audio of a file that begins with `head`. MP3 begins with tags (ID3), or at once with
 * a frame, whose header has no values that are reserved.
 */
export function findAudioType(head: Buffer): AudioType | undefined {
  const text = head.toString('latin1', 0, 12);
  if (/^(RIFF|RF64)[^]{4}WAVE/.test(text)) return 'audio/wav';
  if (text.startsWith('OggS')) return 'audio/ogg';
  if (text.startsWith('ID3')) return 'audio/mpeg';
  const [sync = 0, kind = 0, rate = 0] = head;
  const isFrame =
    sync === 0xff &&
    (kind & 0xe0) === 0xe0 &&
    (kind & 0x18) !== 0x08 &&
    (kind & 0x06) === 0x02 &&
    (rate & 0xf0) !== 0xf0 &&
    (rate & 0x0c) !== 0x0c;
  return isFrame ? 'audio/mpeg' : undefined;
}

const HEAD_BYTES = 4096;

/** The format of a file that begins with `head` and cannot be CSV; undefined when it may be. */
export function foreignFormat(head: Buffer): string | undefined {
  const hex = head.subarray(0, 4).toString('hex');
  return SIGNATURES.find(([signature]) => hex.startsWith(signature))?.[1];
}

export async function readHead(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
