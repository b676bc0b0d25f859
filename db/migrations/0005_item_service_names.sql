ALTER TABLE "subscription_items" ADD COLUMN "named_service_id" text;--> statement-breakpoint
ALTER TABLE "subscription_items" ADD COLUMN "named_service_number" text;