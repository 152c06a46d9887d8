import { createRecord } from './records';
import type { World } from './world';

export interface TestAgent {
  id: number;
  user_id: number;
  token: string;
}

let agentCount = 0;

/** Creates an agent whose user token has all rights. */
export async function makeAgent(world: World, fields: object = {}): Promise<TestAgent> {
  const userEmail = `agent-${(agentCount += 1)}@example.com`;
  const body = { user_email: userEmail, ...fields };
  const agent = await createRecord(world.company.api, 'agents', body);
  const token = await world.credentials(world.company, [], {
    kind: 'user_token',
    superuser: true,
    user_email: userEmail,
  });
  return { id: agent.id, user_id: agent.user_id, token };
}

/** The credentials of an agent, for requests. */
export const asAgent = ({ token }: TestAgent) => ({
  auth: null,
  headers: { Authorization: `Token ${token}` },
});

export async function statusId(world: World, key: string): Promise<number> {
  const { body } = await world.company.api('get', 'agent_statuses?per_page=1000');
  return body.agent_statuses.find((status: { key: string }) => status.key === key).id;
}
