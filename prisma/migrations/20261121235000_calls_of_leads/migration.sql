-- Calls that came in, of which their leads are to be told: a lead may be locked while a carrier is asked, and no call waits for that.
CREATE TABLE "lead_calls" (
    "company_id" BIGINT NOT NULL,
    "call_id" BIGINT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lead_calls_pkey" PRIMARY KEY ("company_id","call_id")
);

ALTER TABLE "lead_calls" ADD CONSTRAINT "lead_calls_company_id_call_id_fkey" FOREIGN KEY ("company_id", "call_id") REFERENCES "calls"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
