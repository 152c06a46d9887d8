-- What a company answers to the words of consent, which text answers which, what ends and starts
-- schedules, and what has happened that may start them.

ALTER TABLE companies
  ADD COLUMN keyword_replies boolean NOT NULL DEFAULT true,
  ADD COLUMN help_text text,
  ADD COLUMN opt_out_text text,
  ADD COLUMN opt_in_text text;

ALTER TABLE text_messages ADD COLUMN in_reply_to_id bigint;
CREATE UNIQUE INDEX text_messages_company_id_in_reply_to_id_key
  ON text_messages (company_id, in_reply_to_id);

ALTER TABLE schedules
  ADD COLUMN exit_on text[] DEFAULT ARRAY['converted', 'opted_out']::text[],
  ADD COLUMN triggers jsonb NOT NULL DEFAULT '[]';
CREATE INDEX schedules_triggers_idx ON schedules (company_id)
  WHERE triggers <> '[]' AND deleted_at IS NULL;

ALTER TABLE leads
  ADD COLUMN called_at timestamptz(3),
  ADD COLUMN replied_at timestamptz(3),
  ADD COLUMN triggered_by bigint[] DEFAULT ARRAY[]::bigint[];

CREATE TABLE schedule_events (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  kind text NOT NULL,
  lead_id bigint,
  call_id bigint,
  text_message_id bigint,
  CONSTRAINT schedule_events_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT schedule_events_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id)
);
CREATE INDEX schedule_events_id_idx ON schedule_events (id);
