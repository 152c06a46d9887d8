import { noun } from '../../api/records/noun';

export const filters = {
  record_type: 't.record_type = {record_type}',
  record_id: 't.record_id = {record_id}::bigint',
  action: 't.action = {action}',
  request_id: 't.request_id = {request_id}',
  client_request_id: 't.client_request_id = {client_request_id}',
};

export const changeLog = noun({
  schema: 'ChangeLog',
  singular: 'change_log',
  plural: 'change_logs',
  appendOnly: 'counted',
  search: ['record_type', 'operation', 'user_email', 'credentials'],
  filters,
});
export const { projection } = changeLog;
