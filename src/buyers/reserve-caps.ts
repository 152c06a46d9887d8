export { recordUsage, reserveUsage, type Reserved } from './queries/cap-counters';
