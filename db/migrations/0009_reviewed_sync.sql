ALTER TABLE "customer_services" ADD COLUMN "synced_ends_on" date;--> statement-breakpoint
ALTER TABLE "reconciliation_runs" ADD COLUMN "denied_code" text;--> statement-breakpoint
CREATE INDEX "stripe_customers_numbers" ON "stripe_customers" USING gin ((lower("numbers"::text)::jsonb) jsonb_path_ops) WITH (fastupdate=false) WHERE "stripe_customers"."numbers" <> '[]';--> statement-breakpoint
-- What ends with the subscriptions that bill it was written by sync.
UPDATE "customer_services" v SET "synced_ends_on" = v."ends_on"
  WHERE v."ends_on" IS NOT NULL AND EXISTS (
    SELECT FROM "subscription_items" i JOIN "subscriptions" s ON s."id" = i."subscription_id"
      WHERE i."customer_service_id" = v."id" AND s."status" <> 'cancelled'
        AND abs(v."ends_on" - s."cancel_at"::date) <= 1
  );--> statement-breakpoint
DROP FUNCTION IF EXISTS insert_created_customer(jsonb);
-- Functions: 49a5430734f269e343c5cd305ca69bcdf9249fa26997130f40339b0258945a6d
