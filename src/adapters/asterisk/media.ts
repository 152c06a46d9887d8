import type { Playback } from './call/call';
import type { AsteriskSettings } from './settings';
import { speak } from '../service/speech';

// Texts are no sounds: Asterisk does not speak. A text is a sound of its own name, a URL that
// Asterisk fetches, or is spoken by a program.

type MediaSettings = Pick<AsteriskSettings, 'tts_command' | 'sounds_dir' | 'prompt_sound'>;

/** Sounds of Asterisk by name, below its own folders. */
const SOUNDS = /^sound:[\w-]+(\/[\w-]+)*$/;
const TTS_SECONDS = 20;

/** Returns the media of ARI for a text; undefined where there is nothing to play. */
export async function findMedia(
  text: string | null,
  playback: Playback,
  settings: MediaSettings,
): Promise<string | undefined> {
  const instead = playback === 'prompt' ? settings.prompt_sound : undefined;
  if (text === null || text.trim() === '') return instead;
  if (SOUNDS.test(text)) return text;
  if (/^https?:\/\/\S+$/i.test(text)) return `sound:${text}`;
  if (!settings.tts_command) return instead;
  return `sound:${await speak(text, settings.tts_command, settings.sounds_dir, TTS_SECONDS)}`;
}
