import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';

export interface SpeechSettings {
  /** A program that writes the text of its standard input as speech to the WAV file it is given. */
  tts_command?: string;
  /** Folder of that speech, which the switch reads too. */
  sounds_dir: string;
  /** Asks a buyer to press 1 where a text cannot be spoken. */
  prompt_sound: string;
}

/** Speech that is being made, by file. */
const making = new Map<string, Promise<void>>();

/** Returns the file of a spoken text, without its ending. Each text is spoken once. */
export async function speak(
  text: string,
  command: string,
  folder: string,
  maxSeconds: number,
): Promise<string> {
  const name = createHash('sha256').update(`${command}\n${text}`).digest('hex');
  const path = join(folder, name);
  if (existsSync(`${path}.wav`)) return path;
  let work = making.get(path);
  if (!work) {
    mkdirSync(folder, { recursive: true });
    work = makeSpeech(text, command, path, maxSeconds).finally(() => making.delete(path));
    making.set(path, work);
  }
  await work;
  return path;
}

/** The text goes through standard input: no shell reads it. */
function makeSpeech(
  text: string,
  command: string,
  path: string,
  maxSeconds: number,
): Promise<void> {
  const part = `${path}.part.wav`;
  return new Promise((done, fail) => {
    const child = spawn(command, [part], { stdio: ['pipe', 'ignore', 'inherit'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), maxSeconds * 1000);
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
