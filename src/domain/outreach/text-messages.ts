import { uuidv7 } from '../../data/uuid';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { noun } from '../../api/records/noun';
import { loadWriteReply } from '../../api/records/record';
import { findNumber } from '../numbers/find-number';
import { callerNumber } from '../../data/phone/caller-number';
import { receiveTextMessage } from './receive-text-message';

// Text messages to leads and their replies. Outreach writes the former, carriers deliver the
// latter; with the sandbox, users can send replies to try them.

const textMessage = noun({
  schema: 'TextMessage',
  singular: 'text_message',
  plural: 'text_messages',
  search: `lower(
    coalesce(t.from_number::text, '') || E'\\n' || coalesce(t.to_number::text, '')
    || E'\\n' || coalesce(t.body, '') || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  computed: {
    routes_edit_path: 'NULL::text',
    from_number: `'+' || t.from_number`,
    to_number: `'+' || t.to_number`,
    sandbox: `t.carrier = 'sandbox'`,
  },
  filters: {
    direction: 't.direction = {direction}',
    status: 't.status = {status}',
    number: '(t.from_number = {number}::bigint OR t.to_number = {number}::bigint)',
  },
});
export const { projection } = textMessage;

export const textMessages = (deps: Deps) => {
  const { clock, carrier } = deps;
  return {
    ...textMessage.handlers(deps),

    listTextMessages: async ({ query, db }) => {
      const number = await callerNumber(db, query.number, 'number');
      return textMessage.list({ ...query, number }, { db, now: clock() });
    },

    receiveTextMessage: async ({ query, body, db }) => {
      if (carrier.name !== 'sandbox')
        throw HttpProblem.field(
          'from',
          'wrong_state',
          `cannot be tried with the carrier ${carrier.name}, which delivers messages itself`,
        );
      const now = clock();
      const from = await callerNumber(db, body.from, 'from');
      const to = await callerNumber(db, body.to, 'to');
      if (!(await findNumber(db, to!)))
        throw HttpProblem.field('to', 'unknown_reference', 'is no number of the company');
      const message = {
        from,
        to,
        body: body.body,
        carrier: carrier.name,
        carrier_message_id: uuidv7(now.getTime()),
      };
      const { id } = await receiveTextMessage(db, message, now);
      return loadWriteReply(
        { db, now, projection, serializer: body.serializer ?? query.serializer },
        id,
        {
          status: 201,
        },
      );
    },
  } satisfies Partial<Handlers>;
};
