-- How many transactions have changed what calls of a company are routed by, in slots so that those that write at the same time do not wait for each other.
CREATE TABLE "routing_changes" (
    "company_id" BIGINT NOT NULL,
    "slot" INTEGER NOT NULL,
    "n" BIGINT NOT NULL,

    CONSTRAINT "routing_changes_pkey" PRIMARY KEY ("company_id","slot")
);

ALTER TABLE "routing_changes" ADD CONSTRAINT "routing_changes_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- Once a transaction, and at its end: whoever waits for a slot then waits for nothing else that another could hold.
CREATE FUNCTION note_routing_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  owner CONSTANT bigint := coalesce(NEW.company_id, OLD.company_id);
  mark CONSTANT text := owner || '/' || pg_current_xact_id();
BEGIN
  IF current_setting('trunkline.routing_changed', true) IS DISTINCT FROM mark THEN
    INSERT INTO routing_changes (company_id, slot, n) VALUES (owner, pg_backend_pid() % 16, 1) ON CONFLICT (company_id, slot) DO UPDATE SET n = routing_changes.n + 1;
    PERFORM set_config('trunkline.routing_changed', mark, true);
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER routing_change AFTER INSERT OR UPDATE OR DELETE ON "buyers" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_routing_change();
CREATE CONSTRAINT TRIGGER routing_change AFTER INSERT OR UPDATE OR DELETE ON "buyer_groups" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_routing_change();
CREATE CONSTRAINT TRIGGER routing_change AFTER INSERT OR UPDATE OR DELETE ON "buyer_group_members" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_routing_change();
CREATE CONSTRAINT TRIGGER routing_change AFTER INSERT OR UPDATE OR DELETE ON "buyer_business_hours" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_routing_change();
CREATE CONSTRAINT TRIGGER routing_change AFTER INSERT OR UPDATE OR DELETE ON "buyer_conversions" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_routing_change();
CREATE CONSTRAINT TRIGGER routing_change AFTER INSERT OR UPDATE OR DELETE ON "offer_buyers" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_routing_change();
CREATE CONSTRAINT TRIGGER routing_change AFTER INSERT OR UPDATE OR DELETE ON "offer_buyer_groups" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_routing_change();
-- Numbers are written whenever leads are given one; buyers are shown by what these columns say.
CREATE CONSTRAINT TRIGGER routing_change AFTER UPDATE OF "phone_number", "deleted_at" OR DELETE ON "numbers" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_routing_change();
