import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Playback } from './call/call';
import type { AsteriskSettings } from './settings';

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
  return `sound:${await speak(text, settings.tts_command, settings.sounds_dir)}`;
}

/** Speech that is being made, by file. */
const making = new Map<string, Promise<void>>();

/** Returns the file of a spoken text, without its ending. Each text is spoken once. */
async function speak(text: string, command: string, folder: string): Promise<string> {
  const name = createHash('sha256').update(`${command}\n${text}`).digest('hex');
  const path = join(folder, name);
  if (existsSync(`${path}.wav`)) return path;
  let work = making.get(path);
  if (!work) {
    mkdirSync(folder, { recursive: true });
    work = makeSpeech(text, command, path).finally(() => making.delete(path));
    making.set(path, work);
  }
  await work;
  return path;
}

/** The text goes through standard input: no shell reads it. */
function makeSpeech(text: string, command: string, path: string): Promise<void> {
  const part = `${path}.part.wav`;
  return new Promise((done, fail) => {
    const child = spawn(command, [part], { stdio: ['pipe', 'ignore', 'inherit'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), TTS_SECONDS * 1000);
    child.once('error', fail);
    // A program that ends early does not read all of it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(text);
    child.once('exit', (code) => {
      clearTimeout(timer);
      if (code !== 0) return fail(new Error(`${command} ended with ${code}`));
      renameSync(part, `${path}.wav`);
      done();
    });
  });
}
