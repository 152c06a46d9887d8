import { member } from '../support/teams';
import { createWorld, type World } from '../support/world';

// Agents and messages that a limited user shares with others.

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const AGENTS = ['agents:read', 'agents:update', 'agents:delete', 'agents:create'];
const MESSAGES = ['agent_messages:read', 'agent_messages:update', 'agent_messages:delete'];

let n = 0;
async function scene() {
  const { api } = world.company;
  const buyer = async (name: string) =>
    (
      await api('post', 'buyers', {
        body: { name, number: '+13105550777', user_buyer_id: `${name}${n++}` },
      })
    ).body.buyer.id as number;
  const [own, rival] = [await buyer('own'), await buyer('rival')];
  const { api: limited, email } = await member(world.company, `eve${n++}@example.com`, {
    permissions: [...AGENTS, ...MESSAGES],
    buyer_ids: [own],
  });
  const made = await api('post', 'agents', {
    body: { name: 'Shared', user_email: `agent${n++}@example.com`, buyer_ids: [own, rival] },
  });
  return { api, limited, email, own, rival, agent: made.body.agent.id as number };
}

test('a limited user does not take the agent of others from them', async () => {
  const { api, limited, own, rival, agent } = await scene();
  const changed = await limited('put', `agents/${agent}`, {
    body: { buyer_ids: [own], name: 'Mine' },
  });
  const after = (await api('get', `agents/${agent}`)).body.agent;
  expect([changed.status, after.name, after.buyer_ids]).toEqual([403, 'Shared', [own, rival]]);
});

test('a limited user does not delete an agent that others use', async () => {
  const { api, limited, agent } = await scene();
  const deleted = await limited('delete', `agents/${agent}`);
  expect([deleted.status, (await api('get', `agents/${agent}`)).status]).toEqual([403, 200]);
});

test('who receives a message does not change it for the others', async () => {
  const { api, limited, email, own } = await scene();
  await api('post', 'agents', { body: { name: 'Eve', user_email: email, buyer_ids: [own] } });
  const sent = await api('post', 'agent_messages', { body: { content: 'Script A for all' } });
  const id = sent.body.agent_message.id as number;
  const changed = await limited('put', `agent_messages/${id}`, { body: { content: 'Hang up' } });
  const after = (await api('get', `agent_messages/${id}`)).body.agent_message.content;
  const deleted = await limited('delete', `agent_messages/${id}`);
  expect([changed.status, after, deleted.status]).toEqual([403, 'Script A for all', 403]);
});
