import { setTimeout as sleep } from 'node:timers/promises';
import { basic } from '../../support/world';
import type { AdapterWorld, StartedSwitch } from './adapter-world';
import { SPEECH } from './media';
import { waitUntil } from './waiting';

// Recordings and voicemails, which can run side by side.

type World = AdapterWorld<StartedSwitch>;

/** Bytes of a WAV file that has a second of speech: 8,000 samples of two bytes. */
const SECOND = 16_000;

/** The audio that the service gives out for a call. */
async function downloadRecording(on: World, callId: string): Promise<Buffer> {
  const url = await waitUntil(
    'the recording',
    async () => (await on.readCall(callId)).recording_url ?? undefined,
    on.adapter.log,
  );
  const { id } = await on.readCall(callId);
  expect(url).toContain('/recording');
  const key = await on.world.credentials(on.world.company, ['calls:read']);
  const response = await fetch(`${on.service.url}/api/v1/calls/${id as number}/recording`, {
    headers: { authorization: basic(key) },
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** Loud samples: speech, not silence. */
const countLoud = (wav: Buffer): number => {
  let loud = 0;
  for (let at = 44; at + 1 < wav.length; at += 2) if (Math.abs(wav.readInt16LE(at)) > 1_000) loud++;
  return loud;
};

export const mediaScenarios: Record<string, (on: World) => Promise<void>> = {
  'a talk is recorded, and its recording is stored by the service': async (on: World) => {
    const buyer = await on.startUas('answers', SPEECH);
    const { number } = await on.openOffer([{ uas: buyer, fields: { record_calls: true } }]);
    const calls = await on.placeCalls({ number });
    await calls.until('answered');
    await sleep(4_000);
    await calls.hangUp();
    const wav = await downloadRecording(on, calls.ids[0]!);
    expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
    expect(wav.length).toBeGreaterThan(3 * SECOND);
    expect(countLoud(wav)).toBeGreaterThan(SECOND);
  },

  'a caller leaves a voicemail after the message': async (on: World) => {
    const busy = await on.startUas('486 Busy Here');
    const { number } = await on.openOffer([{ uas: busy }], {
      fallback_type: 'voicemail',
      fallback_message: 'Leave a message.',
    });
    const calls = await on.placeCalls({ number, media: SPEECH });
    await calls.until('answered');
    await sleep(6_000);
    await calls.hangUp();
    const wav = await downloadRecording(on, calls.ids[0]!);
    expect(wav.length).toBeGreaterThan(2 * SECOND);
    expect(countLoud(wav)).toBeGreaterThan(SECOND);
    const { events } = await on.waitForCall(calls.ids[0]!, 'fallback_ended');
    expect(events).toContain('fallback_started');
  },
};
