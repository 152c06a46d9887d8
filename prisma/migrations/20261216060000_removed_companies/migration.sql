-- A demo company that is being removed lets nobody in: what is sent to it would hold up the removal.
ALTER TABLE companies ADD COLUMN removed_at timestamptz(3);
