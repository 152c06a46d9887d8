// Layouts of one area are one script.
export { agentMessages } from './agent-messages';
export { agentStatuses } from './agent-statuses';
export { agents } from './agents';
export { callCenters } from './call-centers';
export { dispositions } from './dispositions';
