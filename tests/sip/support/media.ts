import type { Media } from './sipp';

// RTP that SIPp sends: speech in place of a person's, and keys as RFC 2833 has them.

const RATE = 8_000;
const SILENCE = 0xff;
const BIAS = 0x84;

/** G.711 µ-law of a sample of 16 bits. */
function encode(sample: number): number {
  const magnitude = Math.min(Math.abs(sample) + BIAS, 32_767);
  const exponent = Math.max(0, Math.floor(Math.log2(magnitude)) - 7);
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}

const speak = (seconds: number): Buffer =>
  Buffer.from(
    Array.from({ length: seconds * RATE }, (_, n) => encode(Math.round(8_000 * Math.sin(n / 3)))),
  );
const pause = (seconds: number): Buffer => Buffer.alloc(seconds * RATE, SILENCE);

const stream = (parts: Buffer[]): Media => ({
  exec: 'rtp_stream="speech.ul,1,0,PCMU/8000"',
  files: { 'speech.ul': Buffer.concat(parts) },
});

/** As a person says hello, and waits. */
export const HUMAN = stream([pause(0.3), speak(0.6), pause(20)]);
/** As a machine greets for a long time. */
export const MACHINE = stream([speak(6), pause(20)]);
export const SPEECH = stream([speak(20)]);

export const pressKey = (key: number, afterMs: number): Media => ({
  exec: `play_pcap_audio="/usr/share/sip-tester/dtmf_2833_${key}.pcap"`,
  after_ms: afterMs,
});
