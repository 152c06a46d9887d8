-- When everything was last backed up, which `doctor --live` asks. The table has one row.
ALTER TABLE installations ADD COLUMN backed_up_at timestamptz(3);
