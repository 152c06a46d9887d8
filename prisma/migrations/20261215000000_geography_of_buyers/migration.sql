-- Where the callers of a buyer must be: codes of states and provinces, and area codes; empty for
-- anywhere.
ALTER TABLE buyers
  ADD COLUMN states text[] DEFAULT ARRAY[]::text[],
  ADD COLUMN area_codes text[] DEFAULT ARRAY[]::text[];
