// Layouts of one area are one script.
export { switches } from './switches';
export { trunks } from './trunks';
