import type { Request } from 'express';
import { isContractWord } from '../log-url';

/** Shorter ones are parts of any message. */
const MIN_CHARS = 3;
const MAX_VALUES = 2_000;
const MAX_DEPTH = 32;

/**
 * The texts and longer numbers that a request sent: in its path, its query string, its headers and
 * its body, decoded. They are masked in logged errors. Undefined when they are too many to search
 * for.
 */
export function collectRequestValues(req: Request): string[] | undefined {
  const texts = new Set<string>();
  for (const part of req.originalUrl.split(/[/?&=]/)) collect(decodeText(part), texts);
  for (const header of Object.values(req.headers).flat())
    for (const text of listHeaderTexts(header)) collect(text, texts);
  const isComplete = collect(req.body, texts);
  return isComplete ? [...texts] : undefined;
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** A header, its parts, and what they are in plain text. */
function listHeaderTexts(header = ''): string[] {
  const parts = header.split(/[\s,;="]+/);
  const plain = parts.map((part) => Buffer.from(part, 'base64').toString());
  return [header, ...parts, ...plain, ...plain.flatMap((text) => text.split(':'))];
}

/** Returns false when there is more than was collected. */
function collect(value: unknown, texts: Set<string>, depth = 0): boolean {
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).trim();
    if (text.length >= MIN_CHARS && !isContractWord(text)) texts.add(text);
  }
  if (typeof value !== 'object' || value === null) return texts.size < MAX_VALUES;
  if (depth >= MAX_DEPTH) return false;
  return Object.entries(value).every(
    // Names of lead data are chosen by the sender.
    ([key, inner]) => collect(key, texts, depth + 1) && collect(inner, texts, depth + 1),
  );
}
