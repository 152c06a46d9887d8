import type { Logger } from 'pino';
import type { FreeswitchSettings } from './settings';
import { speak } from '../service/speech';

// A text is a sound of its own name, a URL that mod_httapi fetches, or is spoken by a program.

/** Sounds of FreeSWITCH by name, below its own folder. */
const SOUND = /^sound:([\w-]+(?:\/[\w-]+)*(?:\.\w+)?)$/;
/** Without the signs that have a meaning in the name of a file. */
const URL_TEXT = /^https?:\/\/[\w.:-]+(?:\/[\w./~%+=&?,;:@-]*)?$/i;
/** FreeSWITCH waits for the document meanwhile. */
const SPEECH_SECONDS = 8;

/** Returns the file for a text; undefined where there is nothing to play. */
export async function findFile(
  text: string | null,
  settings: FreeswitchSettings,
  log: Logger,
): Promise<string | undefined> {
  if (text === null || text.trim() === '') return undefined;
  const sound = SOUND.exec(text)?.[1];
  if (sound !== undefined) return sound;
  if (URL_TEXT.test(text)) return text;
  if (settings.tts_command === undefined) {
    log.warn('a text was not played: there is no program that speaks');
    return undefined;
  }
  try {
    const { tts_command, sounds_dir } = settings;
    return `${await speak(text, tts_command, sounds_dir, SPEECH_SECONDS)}.wav`;
  } catch (error) {
    log.warn({ err: error }, 'a text was not played');
    return undefined;
  }
}
