-- What bidders had answered could bring U+0000 and unpaired surrogates into decisions. The type json
-- takes them, and fails whenever it is read: reports over such a call were refused for ever. They
-- become replacement characters, as in all text of others from now on. Pairs of surrogates are no
-- escapes in decisions; an escaped backslash before a "u" is text.
UPDATE call_decisions
SET decision = regexp_replace(
  decision::text,
  '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})',
  '\1' || chr(65533),
  'gi'
)::json
WHERE strpos(decision::text, '\u') > 0
  AND decision::text ~* '(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})';
