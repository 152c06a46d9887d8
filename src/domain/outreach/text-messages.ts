import { CHRONOLOGICAL } from '../../data/projection/list-statements';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { buildReferenceConditions } from '../../data/records';
import { uuidv7 } from '../../data/uuid';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { loadWriteReply } from '../../api/records/record';
import { recordHandlers } from '../../api/records/record-handlers';
import { findNumber } from '../numbers/find-number';
import { callerNumber } from '../../data/phone/caller-number';
import { receiveTextMessage } from './receive-text-message';

// Text messages to leads and their replies. Outreach writes the former, carriers deliver the
// latter; with the sandbox, users can send replies to try them.

export const projection = {
  schema: 'TextMessage',
  singular: 'text_message',
  plural: 'text_messages',
  fulltext: `lower(
    coalesce(t.from_number::text, '') || E'\\n' || coalesce(t.to_number::text, '')
    || E'\\n' || coalesce(t.body, '') || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  columns: {
    ...commonColumns('text_messages'),
    type: `'TextMessage'`,
    routes_edit_path: 'NULL::text',
    direction: true,
    from_number: `'+' || t.from_number`,
    to_number: `'+' || t.to_number`,
    body: true,
    status: true,
    error_code: true,
    error_message: true,
    carrier: true,
    sandbox: `t.carrier = 'sandbox'`,
    carrier_message_id: true,
    lead_id: true,
    offer_id: true,
    schedule_id: true,
    schedule_action_id: true,
    token_values: true,
    sent_at: true,
    delivered_at: true,
  },
} as const satisfies Projection<'TextMessage', 'text_message', 'text_messages'>;

export const textMessages = ({ clock, carrier }: Deps) =>
  ({
    listTextMessages: async ({ query, db }) => {
      const number = await callerNumber(db, query.number, 'number');
      const filters = {
        ...buildReferenceConditions(query, { lead_id: 'leads' }),
        direction: 't.direction = {direction}',
        status: 't.status = {status}',
        number: '(t.from_number = {number}::bigint OR t.to_number = {number}::bigint)',
      };
      const narrowed = { ...query, number };
      return page(narrowed, { db, now: clock(), projection, orders: CHRONOLOGICAL, filters });
    },

    showTextMessage: recordHandlers(projection, clock).show,

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
  }) satisfies Partial<Handlers>;
