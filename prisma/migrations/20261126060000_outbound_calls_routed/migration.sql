-- Outbound calls that are routed to buyers, and what answered them.
ALTER TABLE "calls"
  ADD COLUMN "routed" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "answered_by" TEXT,
  ADD COLUMN "machine_action" TEXT,
  ADD COLUMN "machine_message" TEXT,
  ADD COLUMN "abandoned" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "schedule_actions"
  ADD COLUMN "only_when_buyer_available" BOOLEAN,
  ADD COLUMN "machine_action" TEXT,
  ADD COLUMN "machine_message" TEXT;

ALTER TABLE "offers" ADD COLUMN "abandoned_message" TEXT;

-- The actions that there are connect to a fixed number, as before.
UPDATE "schedule_actions" SET "machine_action" = 'connect' WHERE "action_type" = 'dial';
