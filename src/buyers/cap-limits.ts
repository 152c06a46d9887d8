export { limitsIn } from './queries/cap-counters';
