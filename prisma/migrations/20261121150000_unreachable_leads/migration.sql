-- AlterTable
ALTER TABLE "leads" ADD COLUMN "unreachable" BOOLEAN NOT NULL DEFAULT false;
