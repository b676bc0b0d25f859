ALTER TABLE "customers" ADD COLUMN "erased_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "stripe_events" ADD COLUMN "checkout" jsonb;--> statement-breakpoint
CREATE INDEX "stripe_events_with_body" ON "stripe_events" USING btree ("stripe_created") WHERE "stripe_events"."payload" <> '';
-- Functions: c7e21974da8c690e232cb3fd6c488898260d4b1dfea5ba7c2df2d7ed3e304828
