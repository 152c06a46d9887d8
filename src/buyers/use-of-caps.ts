// SQL for statements of other rooms: what a call uses is counted in the statement that writes it.
export { IS_LIMITED } from './queries/cap-limits';
export { USE_OF_ROW } from './queries/cap-use';
