ALTER TABLE "customer_services" ADD COLUMN "synced_ends_on" date;--> statement-breakpoint
-- What ends with the subscriptions that bill it was written by sync.
UPDATE "customer_services" SET "synced_ends_on" = "ends_on"
  WHERE "ends_on" IS NOT NULL AND "synced_billing_date" IS NOT NULL;
-- Functions: 41aa4de1d9bdf728cca70658af7df12911d9ec11c66426810cf28c5e8a890dd0
