DROP INDEX "subscriptions_stub";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "is_stub" boolean GENERATED ALWAYS AS (provider_as_of is null and stripe_subscription_id is not null) STORED NOT NULL;--> statement-breakpoint
CREATE INDEX "subscriptions_stub" ON "subscriptions" USING btree ("id") WHERE "subscriptions"."is_stub";--> statement-breakpoint
-- Room on each page for the next version of a row: it then needs no new entry in any index.
ALTER TABLE "subscriptions" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "subscription_items" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "customer_services" SET (fillfactor = 90);--> statement-breakpoint
ALTER TABLE "invoices" SET (fillfactor = 80);--> statement-breakpoint
-- Half the time of pglz; not every build of PostgreSQL has it.
DO $$ BEGIN
  ALTER TABLE "stripe_events" ALTER COLUMN "payload" SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;
