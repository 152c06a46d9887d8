import { useSyncExternalStore } from './store';

const STORAGE_KEY = 'trunkline.zone';

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

let zone: string | undefined;
const listeners = new Set<() => void>();

function readZone(): string {
  const stored = localStorage.getItem(STORAGE_KEY);
  return stored !== null && isZone(stored) ? stored : browserZone();
}

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The zone that all times of the console are in; that of the browser unless one was chosen. */
export const currentZone = (): string => (zone ??= readZone());

/** Takes the zone for this page alone. */
export function setPageZone(name: string): void {
  zone = name;
  for (const changed of listeners) changed();
}

export function chooseZone(name: string): void {
  if (name === browserZone()) localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, name);
  setPageZone(name);
}

/** The zone, for a component that shows times. */
export const useZone = (): string => useSyncExternalStore(listeners, currentZone);

/** `EST` or `GMT+2`, at an instant. */
export function zoneName(at = new Date()): string {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: currentZone(),
    timeZoneName: 'short',
  });
  return (
    parts.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? currentZone()
  );
}

const FIELDS = new Map<string, Intl.DateTimeFormat>();
function fieldsIn(name: string): Intl.DateTimeFormat {
  let format = FIELDS.get(name);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    FIELDS.set(name, format);
  }
  return format;
}

/** An instant for `<input type="datetime-local">`: `2026-11-05T13:30`. */
export function toLocalInput(at: Date, name = currentZone()): string {
  const part = Object.fromEntries(
    fieldsIn(name)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}`;
}

/** The instant that a local time is in the zone; twice, since the offset depends on the instant. */
export function fromLocalInput(local: string, name = currentZone()): Date {
  const asUtc = Date.parse(`${local.length === 10 ? `${local}T00:00` : local}Z`);
  let at = asUtc;
  for (let turn = 0; turn < 2; turn++)
    at += asUtc - Date.parse(`${toLocalInput(new Date(at), name)}Z`);
  return new Date(at);
}

/** The day of an instant, `2026-11-05`. */
export const toDay = (at: Date, name = currentZone()): string =>
  toLocalInput(at, name).slice(0, 10);
