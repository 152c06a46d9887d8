-- Counts mails to these mailboxes, as far as the day has room for them: for all of the company, and
-- for each mailbox. Says for each what has no room; an empty text where the mail is counted. The
-- row of the company is locked first, by everybody who counts mails of it. 0 is no maximum.
CREATE OR REPLACE FUNCTION take_mails(
  company bigint, today date, mailboxes text[], company_max integer, mailbox_max integer
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  total integer;
  recipient text;
  refusal text;
  refusals text[] := '{}';
BEGIN
  INSERT INTO mail_counts AS c (company_id, day, mailbox, used)
    VALUES (company, today, '', 0)
    ON CONFLICT (company_id, day, mailbox) DO UPDATE SET used = c.used
    RETURNING c.used INTO total;
  FOREACH recipient IN ARRAY mailboxes LOOP
    refusal := '';
    IF company_max > 0 AND total >= company_max THEN
      refusal := 'company';
    ELSE
      INSERT INTO mail_counts AS c (company_id, day, mailbox, used)
        VALUES (company, today, recipient, 1)
        ON CONFLICT (company_id, day, mailbox) DO UPDATE SET used = c.used + 1
        WHERE mailbox_max = 0 OR c.used < mailbox_max;
      IF FOUND THEN
        total := total + 1;
      ELSE
        refusal := 'address';
      END IF;
    END IF;
    refusals := refusals || refusal;
  END LOOP;
  UPDATE mail_counts c
    SET used = total, refused = c.refused + cardinality(array_remove(refusals, ''))
    WHERE c.company_id = company AND c.day = today AND c.mailbox = '';
  RETURN refusals;
END $$;
