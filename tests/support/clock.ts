/** A clock that stands until it is set. */
export function standingClock(start: string) {
  let now = new Date(start);
  return {
    read: () => now,
    set: (time: string) => void (now = new Date(time)),
    later: (seconds: number) => void (now = new Date(now.getTime() + seconds * 1000)),
    reset: () => void (now = new Date(start)),
  };
}

export type StandingClock = ReturnType<typeof standingClock>;
