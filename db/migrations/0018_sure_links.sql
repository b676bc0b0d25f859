ALTER TABLE "stripe_customers" ADD COLUMN "details" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "subscription_items" ADD COLUMN "amount" numeric(15, 3);--> statement-breakpoint
ALTER TABLE "subscription_items" ADD COLUMN "currency" text;--> statement-breakpoint
ALTER TABLE "subscription_items" ADD COLUMN "interval" text;--> statement-breakpoint
ALTER TABLE "subscription_items" ADD COLUMN "interval_count" integer;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "checkout_reference" integer;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "reference_declined" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "stripe_customers_email" ON "stripe_customers" USING btree ("customer_id","stripe_customer_id") WHERE "stripe_customers"."linked_by" = 'email';--> statement-breakpoint
CREATE INDEX "subscriptions_reference" ON "subscriptions" USING btree ("checkout_reference") WHERE "subscriptions"."checkout_reference" is not null;