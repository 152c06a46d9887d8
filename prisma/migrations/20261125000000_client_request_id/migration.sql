-- The id that a client gave its request is kept beside that of the server.

ALTER TABLE change_logs ADD COLUMN client_request_id text;

CREATE INDEX change_logs_company_id_client_request_id_idx
  ON change_logs (company_id, client_request_id) WHERE client_request_id IS NOT NULL;
