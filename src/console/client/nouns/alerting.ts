// Layouts of one area are one script.
export { alertRules } from './alert-rules';
export { alerts } from './alerts';
