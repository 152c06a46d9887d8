-- The name of the list of a filter such as zip:in_list "My zips", in lower case; null for a filter
-- without one. src/platform/tokens/filters.ts reads filters in the same way.
CREATE OR REPLACE FUNCTION value_list_of(filter text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(btrim(
    (regexp_match(filter, '^[a-z0-9_]+:\s*(?:not[_\s]+)?in_list(?=[\s[(])\s*(.*)$', 'is'))[1],
    E' \t\r\n"''[]()'
  ))
$$;
