/** A clock that stands until it is set. */
export function standingClock(start: string) {
  let now = new Date(start);
  return { read: () => now, set: (time: string) => void (now = new Date(time)) };
}
