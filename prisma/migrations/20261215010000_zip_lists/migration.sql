-- Lists of ZIP codes are value lists of a kind of their own, and say where the callers of a buyer
-- must be.
ALTER TABLE value_lists ADD COLUMN kind text NOT NULL DEFAULT 'values';

ALTER TABLE buyers ADD COLUMN zip_list_id bigint;
ALTER TABLE buyers ADD CONSTRAINT buyers_company_id_zip_list_id_fkey
  FOREIGN KEY (company_id, zip_list_id) REFERENCES value_lists (company_id, id)
  ON DELETE NO ACTION ON UPDATE NO ACTION;
CREATE INDEX buyers_company_id_zip_list_id_idx ON buyers (company_id, zip_list_id);
