// For statements of other rooms that reserve caps for several calls.
export { CAPS_BEFORE, HAVE_ROOM, OPEN_LIMITS, RESERVED_COUNTERS } from './queries/cap-reservations';
