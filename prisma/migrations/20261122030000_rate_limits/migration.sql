-- Unlogged: it is written often and is worth nothing after a minute. A crash of the database empties it, and the windows begin anew.
-- CreateTable
CREATE UNLOGGED TABLE "rate_limits" (
    "company_id" BIGINT NOT NULL,
    "subject" TEXT NOT NULL,
    "window_starts_at" TIMESTAMPTZ(3) NOT NULL,
    "used" INTEGER NOT NULL,
    "granted" INTEGER NOT NULL,

    CONSTRAINT "rate_limits_pkey" PRIMARY KEY ("company_id","subject")
) WITH (fillfactor = 50);

-- What Prisma's schema language cannot say.

ALTER TABLE "rate_limits" ADD CONSTRAINT "rate_limits_used_check" CHECK ("used" >= 0);
