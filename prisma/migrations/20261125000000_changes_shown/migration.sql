-- What a limited user may read of a change that the user has made.
ALTER TABLE "change_logs" ADD COLUMN "changes_shown" JSON;
