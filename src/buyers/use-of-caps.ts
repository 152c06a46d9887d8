// SQL for statements of other rooms: what a call uses is counted in the statement that writes it.
export { USE_OF_ROW } from './queries/cap-use';
