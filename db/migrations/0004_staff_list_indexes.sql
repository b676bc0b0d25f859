CREATE INDEX "payments_amount" ON "payments" USING btree ("amount","id");--> statement-breakpoint
CREATE INDEX "payments_reference_trgm" ON "payments" USING gin ("payment_reference" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "stripe_events_outcome" ON "stripe_events" USING btree ("outcome","stripe_created","id");