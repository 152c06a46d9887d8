// SQL for statements of other rooms, which count the usage of a call when they write the call.
export { IS_LIMITED } from './queries/cap-limits';
export { USE_OF_ROW } from './queries/cap-use';
